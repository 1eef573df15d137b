const USER = {
  id: "user_1",
  email: "a@example.invalid",
  username: "a",
  name: "A",
  siteAdmin: false,
  team: null,
  features: [],
  createdAt: "2026-01-01T00:00:00Z",
};

/** What Amp asks its own server beside the model; undefined: no question of Amp. */
export function ampRequest(path: string, url: string): unknown {
  if (path === "/api/telemetry") return {};
  if (path !== "/api/internal") return undefined;
  const [, method = ""] = url.split("?");
  if (method.startsWith("getUserInfo")) return { ok: true, result: USER };
  return { ok: true, result: method.startsWith("loadPlugins") ? { plugins: [] } : {} };
}
