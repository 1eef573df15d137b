import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { alert, context, sessionStart, windowOf } from "../../src/hooks/context.cjs";
import { type Hook, type HookInput, readInput } from "../../src/hooks/hook.cjs";
import { temporaryFolder } from "../kit.js";

/** Sessions of a user, with a transcript that can be made as long as needed. */
function sessions() {
  const root = temporaryFolder();
  const home = join(root, "home");
  const transcript = join(root, "t.jsonl");
  writeFileSync(transcript, "");
  const env: NodeJS.ProcessEnv = { RALPH_HOME: home, CLAUDE_CONTEXT_WINDOW: "1000" };
  const call = (hook: Hook, sent: Record<string, unknown>) =>
    hook(readInput(JSON.stringify(sent)) as HookInput, { env, note: () => {} });
  return {
    root,
    home,
    env,
    async at(percent: number, session: unknown = "s1"): Promise<string | undefined> {
      truncateSync(transcript, percent * 40);
      const answer = await call(context, { session_id: session, transcript_path: transcript });
      return /About (\d+)%/.exec(JSON.stringify(answer))?.[1];
    },
    start: (session: string, source = "startup") => call(sessionStart, { session_id: session, source }),
  };
}

describe("the context monitor", () => {
  it("tells each threshold once, and of several that were passed at once the highest", async () => {
    const { at } = sessions();
    const told = [];
    for (const percent of [49.9, 50, 59.9, 60, 85, 85, 70, 91, 300]) told.push(await at(percent));
    expect(told).toEqual([undefined, "50", undefined, "60", "80", undefined, undefined, "90", undefined]);
  });

  it("tells one of many hooks that run at the same time", async () => {
    const { at } = sessions();
    const told = await Promise.all(Array.from({ length: 8 }, () => at(75)));
    expect(told.filter(Boolean)).toEqual(["70"]);
  });

  it("starts anew with a session, and leaves every other session alone", async () => {
    const { at, start } = sessions();
    await at(75, "s1");
    await at(75, "s2");
    await start("s1");
    expect([await at(75, "s1"), await at(75, "s2")]).toEqual(["70", undefined]);
  });

  it.each(["../../escape", "..", "/etc/passwd", "a b\nc", "é"])(
    "takes %j for a name and nothing else",
    async (session) => {
      const { at, start, root } = sessions();
      writeFileSync(join(root, "escape"), "keep me");
      expect([await at(75, session), await at(75, session)]).toEqual(["70", undefined]);
      await start(session);
      expect(await at(75, session)).toBe("70");
      expect(readFileSync(join(root, "escape"), "utf8")).toBe("keep me");
    },
  );

  it("says nothing without a session or a transcript, and where the loop that started the agent answers", async () => {
    const { at, env } = sessions();
    expect([await at(95, null), await at(95, 7), await at(95, "")]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    const input = readInput('{"session_id":"s1","transcript_path":"/nowhere/t.jsonl"}') as HookInput;
    expect(await context(input, { env, note: () => {} })).toBeUndefined();
    env["RALPH_HOOK_TOKEN"] = "t";
    expect(await at(95)).toBeUndefined();
  });

  it.each([
    [undefined, 200_000],
    ["1000000", 1_000_000],
    ["-5", 200_000],
  ])("takes CLAUDE_CONTEXT_WINDOW=%s for %d tokens", (given, tokens) => {
    expect(windowOf({ CLAUDE_CONTEXT_WINDOW: given })).toBe(tokens);
  });

  it.each([
    [50, "[NOTICE] About 50% of the context window is used. Be mindful of remaining space. Plan to finish"],
    [70, "[WARNING] About 70% of the context window is used. Finish your current task and commit soon."],
    [90, "[CRITICAL] About 90% of the context window is used. Wrap up immediately. Do NOT start new work."],
  ] as const)("says at %d percent how urgent it is and what to do", (threshold, text) => {
    const [stories, loop] = (["stories", "loop"] as const).map((to) => JSON.stringify(alert(threshold, to)));
    expect(stories).toContain(text);
    expect(stories).toContain("tasks.json");
    expect(loop).toContain(`About ${threshold}% of the context window is used.`);
    expect(loop).not.toMatch(/tasks\.json|progress\.txt/);
  });
});
