import type { SandboxKind, SandboxType } from "./sandbox.js";

/** All kinds of sandboxes; each is loaded when it is used. */
const SANDBOXES = {
  docker: async () => (await import("./docker.js")).docker,
  srt: async () => (await import("./srt.js")).srt,
  none: async () => (await import("./none.js")).none,
} satisfies Record<SandboxKind, () => Promise<SandboxType>>;

export function sandboxOf(kind: SandboxKind): Promise<SandboxType> {
  return SANDBOXES[kind]();
}
