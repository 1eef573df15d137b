import type { SandboxType } from "./sandbox.js";

export const none: SandboxType = {
  find: async () => ({ status: "works", about: "" }),
  open: async () => undefined,
  allows: () => "the agent can do all that you can",
};
