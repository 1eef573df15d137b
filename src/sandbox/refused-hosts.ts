const MOST_NAMED = 5;

/** A complaint of an agent, with the hosts that it was kept from, and the way to let it. */
export function withRefusedHosts(error: string, refused: string[]): string {
  const hosts = [...new Set([...refused, ...ownPorts(error)])];
  if (hosts.length === 0) return error;
  const named = hosts.slice(0, MOST_NAMED).join(", ");
  const more = hosts.length > MOST_NAMED ? ` and ${hosts.length - MOST_NAMED} more` : "";
  return `${error} (the sandbox refused to let it reach ${named}${more}: sandbox.network.allow in the settings adds hosts)`;
}

/** Inside, a port of this machine that is not listed is one that nobody listens to. */
function ownPorts(error: string): string[] {
  if (!/refused/i.test(error)) return [];
  return [...error.matchAll(/\b(?:127\.0\.0\.1|localhost):\d+/g)].map(([host]) => host);
}
