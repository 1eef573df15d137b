import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { Report } from "../../../src/records/report.js";
import { htmlReport } from "../../../src/views/report/html.js";
import { html } from "../../../src/views/report/markup.js";
import { pageIterations } from "../../../src/views/report/page.js";
import { axisOf } from "../../../src/views/report/shapes.js";
import { at, bare, check, demo, iteration, nasty, night, report, SAMPLES } from "./samples.js";

const VOID = new Set(["meta", "!doctype"]);
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNWANTED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]|\p{Surrogate}/u;
const samples = Object.entries(SAMPLES);

function withoutStyles(page: string): string {
  return page.replace(/<style>[\s\S]*?<\/style>/, "<style></style>");
}

/** What a reader sees, roughly: no tags, one space for any. */
function words(page: string): string {
  return withoutStyles(page)
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ");
}

const pageOf = (fields: Partial<Report>): string => words(htmlReport(report(fields)));

test("values are escaped, and only what the template made itself is not", () => {
  const inner = html`<b title="${`"'<>&`}">${"<i>"}</b>`;
  expect(html`<p>${inner}${[inner, "&"]}${null}${7}</p>`.toString()).toBe(
    `<p>${'<b title="&#34;&#39;&#60;&#62;&#38;">&#60;i&#62;</b>'.repeat(2)}&#38;7</p>`,
  );
});

test("the page shows what a receipt says, and all of it as text", () => {
  const passed = { exitCode: 0, durationMs: 1200, flaky: [], log: { sha256: "0123456789abcdef" } };
  const page = htmlReport(report({ run: "r1" }), {
    ...{ commit: "c0ffee", tree: "beef", confirmed: 2, signer: "SHA256:key", text: '{"<script>":1}' },
    checks: [
      { ...passed, name: "npm test", witness: "red→green" },
      { ...passed, name: "<b>", witness: null, flaky: ["exit code 1", "passed"], log: null },
    ],
  });
  const text = words(page);
  expect(text).toContain("exit time witness sha256 of log check");
  expect(text).toMatch(
    /0 1\.2s red→green 0123456789ab npm test 0 1\.2s flaky: exit code 1, then passed - &#60;b&#62; /,
  );
  expect(text).toContain(
    "Commit c0ffee , confirmed 2 times, signed with SHA256:key . ralph verify r1 runs the checks again.",
  );
  expect(text).toContain("{&#34;&#60;script&#62;&#34;:1}");
});

test("an attribute without quotes is refused", () => {
  expect(() => html`<p id=${"a b"}>`).toThrow("an attribute needs quotes");
});

test.each(samples)("every element of %s is closed where it should be", (_, sample) => {
  const open: string[] = [];
  for (const [tag, closing, name = "", selfClosed] of withoutStyles(htmlReport(sample)).matchAll(
    /<(\/?)([a-z!][\w-]*)(?:\s+[\w-]+(?:="[^"<>]*")?|\s+html)*\s*(\/?)>/gi,
  )) {
    if (closing) expect(`</${open.pop()}>`).toBe(tag);
    else if (!selfClosed && !VOID.has(name)) open.push(name);
  }
  expect(open).toEqual([]);
});

test("control characters, turned directions and lone surrogates are gone; other writing stays", () => {
  const page = htmlReport(nasty);
  expect(page).not.toMatch(UNWANTED);
  expect(page).toContain("red link");
  expect(page).toContain("\ufffd alone \ufffd");
  expect(page).toContain("🚀👩‍👩‍👧‍👦 你好，世界。");
  expect(page).toContain("שלום עולם");
});

test.each(samples)("%s holds no script, no style attribute and no address", (_, sample) => {
  const page = withoutStyles(htmlReport(sample));
  const own = page.replace(/<title>[^<]*<\/title>/g, "");
  const attributes = [...own.matchAll(/<[a-z][^<>]*>/gi)].join("\n").replace(/"[^"]*"/g, '""');
  expect(attributes).not.toMatch(/<script|\sstyle=|\ssrc=|\son\w+=/i);
  const addresses = [...own.matchAll(/\s(?:href|fill)="([^"]*)"/g)].map((match) => match[1] as string);
  expect(addresses.filter((to) => !/^#iteration-\d+$|^url\(#[\w-]+\)$/.test(to))).toEqual([]);
});

test("the policy allows the one style sheet by its hash and nothing else", () => {
  const page = htmlReport(demo);
  const styles = /<style>([\s\S]*?)<\/style>/.exec(page)?.[1] ?? "";
  const hash = createHash("sha256").update(styles).digest("base64");
  expect(page).toContain(
    `content="default-src &#39;none&#39;; style-src &#39;sha256-${hash}&#39;; base-uri &#39;none&#39;; form-action &#39;none&#39;"`,
  );
  expect(styles).not.toMatch(/url\(|@import/);
});

test("the header tells the outcome, whose run it was and what it took", () => {
  const page = words(htmlReport(night).replace(/<main>[\s\S]*/, ""));
  expect(page.trim()).toBe(
    [
      "Interrupted by you · ralph run 20260126-185500-3f9a",
      "ralph run 20260126-185500-3f9a – Interrupted by you",
      "Task Make the tests pass. Recipe prompt Agent codex Workspace /home/dev/shop",
      "Started 2026-01-26 18:55:00 UTC Ended 2026-01-27 12:10:00 UTC",
      "Reason interrupted (SIGINT) Resume ralph resume 20260126-185500-3f9a",
      "Iterations 39 of 50 Time 7h21m of 12h0m Cost $47.30 of $60.00",
      "Tokens 38.4M in / 912K out Files 214 changed",
    ].join(" "),
  );
});

test("what is unknown is left out", () => {
  const page = words(htmlReport(bare));
  expect(page).not.toMatch(/\$|null|undefined|NaN|Tokens|tokens|Cost|Checks|checks|Files|Commits|tool/);
  expect(page).toContain("Iterations 1 of 10 Time 4.2s Timeline");
});

test.each([
  ["running", "… Still running Task", "UTC Iterations"],
  ["paused", "… Paused Task", "UTC Resume ralph resume 20260126-185500-3f9a Iterations"],
  [
    "crashed",
    "– Cut off: ralph was killed before it could finish Task",
    "UTC Resume ralph resume 20260126-185500-3f9a Iterations",
  ],
] as const)("a run that is %s says so in place of a reason", (status, title, resume) => {
  const page = pageOf({ status, reason: null, success: false, exitCode: null });
  expect(page).toContain(title);
  expect(page).toContain(resume);
});

test("an iteration tells what it took, what was said, what was checked and committed", () => {
  const page = words(htmlReport(demo));
  expect(page).toContain(
    [
      "× Iteration 1 failed checks failed 1m0s · $0.11",
      "agent 50.0s · checks 10.0s · tokens 12.1K in / 770 out · 5 tool calls",
      "Final message I read the test and the function. The sum was off by one; I changed the loop.",
      "Checks × npm test failed, exit 1, 10.0s expected 4 to be 5 1 test failed",
      "All of its output: .ralph/guardrail_1_npm_test.log",
      "Commits ✓ commit nothing to commit",
    ].join(" "),
  );
  expect(page).toContain("7 tool calls · 1 tool error");
});

test("a check says how it ended, in words for those who do not see the colour", () => {
  const checks = [
    check("a"),
    check("b", { passed: false, exitCode: 3 }),
    check("c", { passed: false, timedOut: true, signal: "SIGKILL" }),
    check("d", { passed: false, exitCode: null, signal: "SIGSEGV" }),
  ];
  const page = htmlReport(report({ iterations: [iteration(1, { checks }), iteration(2)] }));
  const cells = [...page.matchAll(/<td class="([\w-]+)" title="([^"]*)"/g)].map(([, kind, title]) => [
    kind,
    title,
  ]);
  const notRun = ["not-run", "iteration 2: not run"];
  expect(cells).toEqual([
    ["passed", "iteration 1: passed, 10.0s"],
    notRun,
    ["failed", "iteration 1: failed, exit 3, 10.0s"],
    notRun,
    ["failed", "iteration 1: failed, timed out, 10.0s"],
    notRun,
    ["failed", "iteration 1: failed, SIGSEGV, 10.0s"],
    notRun,
  ]);
});

test("a final message of a megabyte is cut; its end stays, and the page says where the rest is", () => {
  const finalMessage = `${"x".repeat(1_000_000)}\n<response>DONE</response>`;
  const page = htmlReport(report({ iterations: [iteration(7, { finalMessage })] }));
  expect(page.length).toBeLessThan(50_000);
  expect(words(page)).toContain(
    "The first 980,026 characters are left out here. All of it is in iterations/007/ of the run’s records.",
  );
  expect(page).toContain("xxx\n&#60;response&#62;DONE&#60;/response&#62;</pre>");
});

test("bars are to scale; a wait of a night is drawn shorter than it was", () => {
  const iterations = [
    iteration(1, { durationMs: 60_000, agentMs: 40_000 }),
    iteration(2, { startedAt: at(63_000), durationMs: 37_000, agentMs: 37_000 }),
    iteration(3, { startedAt: at(3_700_000), durationMs: 3000, agentMs: 1000 }),
  ];
  const { spans, totalMs } = axisOf(pageIterations(report({ iterations })));
  expect(totalMs).toBe(113_000);
  expect(
    spans.map(({ one: { waitMs, agentMs, restMs }, drawnMs, startMs }) => ({
      ...{ waitMs, drawnMs, startMs, agentMs, restMs },
    })),
  ).toEqual([
    { waitMs: 0, drawnMs: 0, startMs: 0, agentMs: 40_000, restMs: 20_000 },
    { waitMs: 3000, drawnMs: 3000, startMs: 63_000, agentMs: 37_000, restMs: 0 },
    { waitMs: 3_600_000, drawnMs: 10_000, startMs: 110_000, agentMs: 1000, restMs: 2000 },
  ]);
  expect(pageOf({ iterations })).toContain("1h0m of waiting, drawn shorter");
});
