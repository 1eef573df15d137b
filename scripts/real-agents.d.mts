export interface RealAgentPackage {
  package: string;
  version: string;
  afterInstall?: string;
}
export const AGENTS: Record<string, RealAgentPackage>;
export function chosenAgents(words: string[]): string[];
export function cacheFolder(env?: NodeJS.ProcessEnv): string;
export function installedAgent(name: string, folder?: string): Promise<string>;
