import { describe, expect, it } from "vitest";
import { saysTag } from "../../src/verify/tag.js";
import { stopwatch } from "../stopwatch.js";

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
    "All done: <promise>COMPLETE</promise>.",
    "All done. COMPLETE",
    "- COMPLETE",
    "# COMPLETE",
    "<promise>\n  COMPLETE\n</promise>",
    "<PROMISE>COMPLETE</PROMISE>",
    "***COMPLETE***",
    "**`COMPLETE`**",
    "<done><b>COMPLETE</b></done>",
    `${"long ".repeat(100_000)}\nCOMPLETE`,
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
    "All done: <promise>COMPLETE</promise>, see above.",
    "```\nCOMPLETE\n```",
    "COMPLETE.",
    '"COMPLETE"',
    "> COMPLETE",
    "COMPLETE COMPLETE",
    "COMPLETE\u2028not yet",
    "the tag is <b>COMPLETE</b>",
    "<COMPLETE>",
    "<promise>COMPLETE</response>",
  ])("is not said by %j", (message) => {
    expect(saysTag(message, "COMPLETE")).toBe(false);
  });

  it("can hold signs of its own", () => {
    expect(saysTag("ok\n**ALL-DONE!**", "ALL-DONE!")).toBe(true);
    expect(saysTag("ok\n[done]", "[done]")).toBe(true);
    expect(saysTag("ok\n[done]", "done")).toBe(false);
    expect(saysTag("ok\n_done_", "_done_")).toBe(true);
  });

  it("that is another one is the only one that counts", () => {
    expect(saysTag("COMPLETE", "FERTIG")).toBe(false);
    expect(saysTag("FERTIG", "FERTIG")).toBe(true);
    expect(saysTag("alles fertig!", "alles fertig!")).toBe(true);
    expect(saysTag("D.NE", "D.NE") && !saysTag("DONE", "D.NE")).toBe(true);
    expect(saysTag("<promise>ok</promise>", "<promise>ok</promise>")).toBe(true);
  });

  it("takes little time to look for in a line of marks", () => {
    const taken = stopwatch();
    expect(saysTag(`${"*_`".repeat(100_000)}COMPLETE!`, "COMPLETE")).toBe(false);
    expect(saysTag("<promise>".repeat(20_000), "COMPLETE")).toBe(false);
    expect(saysTag("COMPLETE ".repeat(100_000), "COMPLETE")).toBe(false);
    expect(taken()).toBeLessThan(2000);
  });
});
