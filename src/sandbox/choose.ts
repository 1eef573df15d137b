import { RalphError } from "../errors.js";
import { withOuterPath } from "../process/outer-path.js";
import { sandboxOf } from "./index.js";
import type { Found, SandboxKind } from "./sandbox.js";

/** What somebody asked for. `any`: one that works, whichever. `auto`: the same, or none. */
export type SandboxChoice = SandboxKind | "auto" | "any";

export interface Chosen extends Pick<Extract<Found, { status: "works" }>, "program"> {
  kind: SandboxKind;
  /** Why there is none, where one was looked for. */
  why?: string;
}

/** The strongest first. */
const LOOKED_FOR = ["docker", "srt"] as const;
/** A virtual machine may have to be woken up. */
const LOOK_MS = 20_000;

/** Finds out what can be used here. What was asked for by its name is used or refused, never replaced. */
export async function chooseSandbox(
  choice: SandboxChoice,
  env: NodeJS.ProcessEnv,
  workspace: string,
): Promise<Chosen> {
  if (choice === "none") return { kind: "none" };
  const kinds = choice === "auto" || choice === "any" ? LOOKED_FOR : [choice];
  const { platform } = process;
  const timeoutMs = LOOK_MS;
  const missing: Unusable[] = [];
  for (const kind of kinds) {
    const type = await sandboxOf(kind);
    if (kind === choice) type.getReady?.(workspace);
    const found = await type.find({ env: withOuterPath(env, workspace), workspace, platform, timeoutMs });
    if (found.status === "works") {
      type.getReady?.(workspace);
      return { kind, ...(found.program && { program: found.program }) };
    }
    missing.push({ kind, ...found });
  }
  if (choice === "auto") return { kind: "none", why: missing.map(inWords).join("; ") };
  throw new RalphError(refusal(choice, missing), {
    code: "sandbox_missing",
    hint: `${missing.map(({ fix }) => fix).join("; or ")}; or go without one: --no-sandbox`,
  });
}

type Unusable = { kind: SandboxKind } & Exclude<Found, { status: "works" }>;

function refusal(choice: SandboxChoice, missing: Unusable[]): string {
  const what = choice === "any" ? "no sandbox can be used here" : `the sandbox ${choice} cannot be used here`;
  return `${what}: ${missing.map(inWords).join("; ")}`;
}

function inWords({ kind, why }: Unusable): string {
  return `${kind}: ${why}`;
}
