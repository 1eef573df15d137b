export interface RealAgentPackage {
  package: string;
  version: string;
  older?: string;
  afterInstall?: string;
}
export const AGENTS: Record<string, RealAgentPackage>;
export function chosenAgents(words: string[]): string[];
export function cacheFolder(env?: NodeJS.ProcessEnv): string;
export function installedAgent(
  name: string,
  options?: { folder?: string; release?: string },
): Promise<string>;
