export interface Need {
  package: string;
  programs?: string[];
  file?: (env: NodeJS.ProcessEnv) => string;
  suites: string[];
  platform?: string;
}
export function missingNeeds(env?: NodeJS.ProcessEnv): Need[];
export const ROOT_ONLY: string[];
export function bashCompletion(env: NodeJS.ProcessEnv): string;
export function leftOutSuites(env?: NodeJS.ProcessEnv): string[];
