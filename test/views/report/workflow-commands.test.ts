import { describe, expect, it } from "vitest";
import { withoutCommands } from "../../../src/views/report/markdown.js";
import { workflowCommands } from "../../runner.js";

const HOSTILE = [
  "::set-output name=a::b",
  "  \t::add-mask::secret",
  "\u00a0\u3000\u0085::error::no-break and other spaces",
  "words\n::stop-commands::token",
  "words\r::stop-commands::token",
  "words\r\n\r\n ::warning file=a.js,line=1::b",
  "before ##[add-mask]secret",
  "##[group]a ##[endgroup]",
  "::::error::a",
];

describe("output of a step in GitHub Actions", () => {
  it.each(HOSTILE)("%j holds no command any more", (text) => {
    expect(workflowCommands(withoutCommands(text))).toEqual([]);
  });

  it("is recognised by the test when it is a command", () => {
    const commands = HOSTILE.slice(0, -1).filter((text) => workflowCommands(text).length === 0);
    expect(commands).toEqual([]);
  });

  it.each(["a::b", "std::string::npos", "## [link]", "# ##", "text\nmore: text", "", "{}\n"])(
    "%j stays as it is",
    (text) => {
      expect(withoutCommands(text)).toBe(text);
    },
  );

  it("shows that something was there", () => {
    expect(withoutCommands("a\n  ::error::b ##[c]")).toBe("a\n  \\::error::b ##\\u005bc]");
  });

  it("stays the same JSON", () => {
    const value = { text: HOSTILE.join("\n") };
    expect(JSON.parse(withoutCommands(JSON.stringify(value, null, 2)))).toEqual(value);
  });
});
