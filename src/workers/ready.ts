export type Readiness = { state: "ready" } | { state: "waiting" } | { state: "blocked"; why: string };
export function readiness(screen: string): Readiness {
  return /[$#%>❯]\s*$/.test(screen.trimEnd()) ? { state: "ready" } : { state: "waiting" };
}
