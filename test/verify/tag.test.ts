import { describe, expect, it } from "vitest";
import { saysTag } from "../../src/verify/tag.js";

describe("the completion tag", () => {
  it.each([
    "COMPLETE",
    "All set.\n\nCOMPLETE",
    "COMPLETE\n",
    "  COMPLETE  ",
    "**COMPLETE**",
    "__COMPLETE__",
    "`COMPLETE`",
    "<b>COMPLETE</b>",
    "<status>COMPLETE</status>",
    "done\r\nCOMPLETE\r\n",
    "COMPLETE\nSee the tests.",
    "<promise>COMPLETE</promise>",
    "All done: <promise>COMPLETE</promise>, see above.",
    "<promise>\n  COMPLETE\n</promise>",
    "<PROMISE>COMPLETE</PROMISE>",
  ])("is said by %j", (message) => {
    expect(saysTag(message, "COMPLETE")).toBe(true);
  });

  it.each([
    "",
    "INCOMPLETE",
    "COMPLETED",
    "I am not COMPLETE yet",
    "COMPLETE: no",
    "not COMPLETE",
    "The task is COMPLETE",
    "COMPLETE?",
    "complete",
    "<promise>INCOMPLETE</promise>",
    "<promise>not COMPLETE</promise>",
    "<promise>COMPLETE",
    "COMP\nLETE",
    "- COMPLETE",
    "# COMPLETE",
    "COMPLETE.",
    '"COMPLETE"',
  ])("is not said by %j", (message) => {
    expect(saysTag(message, "COMPLETE")).toBe(false);
  });

  it("can hold signs of its own", () => {
    expect(saysTag("ok\n**ALL-DONE!**", "ALL-DONE!")).toBe(true);
    expect(saysTag("ok\n[done]", "[done]")).toBe(true);
    expect(saysTag("ok\n[done]", "done")).toBe(false);
    expect(saysTag("ok\n_done_", "_done_")).toBe(true);
  });
});
