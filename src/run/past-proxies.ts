const LOOPBACK = "127.0.0.1";
const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];

/** Variables that keep what is meant for this machine from going to a proxy, where there is one. */
export function pastProxies(env: NodeJS.ProcessEnv): Record<string, string> {
  const isProxied = PROXIES.some((name) => env[name] || env[name.toLowerCase()]);
  if (!isProxied) return {};
  const direct = [env["NO_PROXY"], env["no_proxy"], LOOPBACK].flatMap((list) => list?.split(",") ?? []);
  const list = [...new Set(direct.map((host) => host.trim()).filter(Boolean))].join(",");
  return { NO_PROXY: list, no_proxy: list };
}
