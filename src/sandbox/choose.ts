import { RalphError } from "../errors.js";
import { withOuterPath } from "../process/which.js";
import type { Availability, SandboxKind, SandboxType } from "./sandbox.js";

const NONE: SandboxType = {
  find: async () => ({ status: "works", about: "" }),
  open: async () => undefined,
  allows: () => "the agent can do everything that you can",
};

/** All kinds of sandboxes, the strongest first; each is loaded on first use. */
const SANDBOXES = {
  docker: async () => (await import("./docker.js")).docker,
  srt: async () => (await import("./srt.js")).srt,
  none: async () => NONE,
} satisfies Record<SandboxKind, () => Promise<SandboxType>>;

export function sandboxOf(kind: SandboxKind): Promise<SandboxType> {
  return SANDBOXES[kind]();
}

/** What the user asked for. `any`: whichever works. `auto`: the same, or none. */
export type SandboxChoice = SandboxKind | "auto" | "any";

export interface ChosenSandbox extends Pick<Extract<Availability, { status: "works" }>, "program"> {
  kind: SandboxKind;
  /** Why no sandbox was found, if ralph looked for one. */
  why?: string;
}

/** ralph may have to wake a virtual machine. */
const FIND_MS = 20_000;

/** Finds a sandbox that works here. A kind that the user names is used or refused, never replaced. */
export async function chooseSandbox(
  choice: SandboxChoice,
  env: NodeJS.ProcessEnv,
  workspace: string,
): Promise<ChosenSandbox> {
  if (choice === "none") return { kind: "none" };
  const kinds = choice === "auto" || choice === "any" ? (["docker", "srt"] as const) : [choice];
  const outer = withOuterPath(env, workspace);
  const reasons: string[] = [];
  const fixes: string[] = [];
  for (const kind of kinds) {
    const type = await sandboxOf(kind);
    const { platform } = process;
    const found = await type.find({ env: outer, workspace, platform, timeoutMs: FIND_MS });
    if (found.status === "works") return { kind, ...(found.program && { program: found.program }) };
    reasons.push(`${kind}: ${found.why}`);
    fixes.push(found.fix);
  }
  const why = reasons.join("; ");
  if (choice === "auto") return { kind: "none", why };
  const what = choice === "any" ? "no sandbox works here" : `the sandbox ${choice} does not work here`;
  throw new RalphError(`${what}: ${why}`, {
    code: "sandbox_missing",
    hint: `${fixes.join("; or ")}; or run without one: --no-sandbox`,
  });
}
