export interface Need {
  package: string;
  programs: string[];
  suites: string[];
  platform?: string;
}
export function missingNeeds(env?: NodeJS.ProcessEnv): Need[];
export function leftOutSuites(env?: NodeJS.ProcessEnv): string[];
