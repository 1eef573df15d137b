import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RalphError } from "../errors.js";
import { inPackage } from "../package-folder.cjs";
import { type Companion, startCompanion } from "../process/companion.js";
import { killTree } from "../process/kill.js";
import { withOuterPath } from "../process/outer-path.js";
import { srtConfig } from "./srt-config.js";
import type { Answer, Question } from "./srt-helper.js";

const HELPER = inPackage("dist/sandbox/srt-helper.js");

export interface Helper {
  /** Folder of this sandbox alone, which agents cannot write, wherever it is. */
  own: string;
  /** The one that they can. */
  temp: string;
  helper: Companion;
  /** Ends it; nothing is left behind, also where it has been killed. */
  end(): Promise<void>;
  /** Fails where the library does. */
  begun: Promise<unknown>;
}

/** What ralph writes for a start must not lie where agents can put a link in its place. */
export function startHelper(workspace: string): Helper {
  const own = mkdtempSync(join(realpathSync(tmpdir()), "ralph-sandbox-"));
  const [temp, cwd] = [`${own}-tmp`, join(own, "cwd")];
  for (const folder of [temp, cwd]) mkdirSync(folder, { mode: 0o700 });
  // With the user's home the library would let some folders in it be written.
  const mine = { HOME: own, TMPDIR: own, CLAUDE_CODE_TMPDIR: temp };
  const env = { ...withOuterPath(process.env, workspace), ...mine };
  const helper = startCompanion({ file: process.execPath, args: [HELPER, own, temp], cwd, env });
  // What is allowed is said with each command; until then it is nothing that anybody listens to.
  const begun = ask(helper, { begin: srtConfig({ ...NOTHING, hosts: ["localhost:1"], allowWrite: [temp] }) });
  // Whoever wraps first is told.
  begun.catch(() => {});
  // What it would have taken with it: its bridge to the proxy, the agent, which has no proxy any more, and files.
  const cleared = helper.gone.then(async () => {
    if (!existsSync(own)) return;
    await killTree({ marker: `CLAUDE_CODE_TMPDIR=${temp}` }, 0);
    for (const folder of [own, temp]) rmSync(folder, { recursive: true, force: true });
  });
  return { own, temp, helper, begun, end: () => helper.end().then(() => cleared) };
}

const NOTHING = { ports: [], denyRead: [], denyWrite: [] };

export async function ask(helper: Companion, question: Question): Promise<string> {
  return (await answerTo(helper, question)).command;
}

export async function answerTo(
  helper: Companion,
  question: Question,
): Promise<Exclude<Answer, { error: string }>> {
  const answer = (await helper.ask(question).catch((error: Error) => ({ error: error.message }))) as Answer;
  if ("command" in answer) return answer;
  throw new RalphError(`the sandbox srt cannot be used: ${answer.error}`, {
    code: "sandbox_failed",
    hint: "ralph doctor looks at what it needs; --no-sandbox goes without it",
  });
}
