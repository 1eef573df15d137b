/** Things as GitHub's API has them. */
// biome-ignore lint/suspicious/noExplicitAny: tests read what they know to be there
type Thing = Record<string, any>;

interface State {
  issues: Thing[];
  comments: Thing[];
  pulls: Thing[];
  reviews: Thing[];
  lineComments: Thing[];
  checks: Thing[];
  requests: string[];
  faults: { match: string; kind: number | "drop" | "limit" | "hang"; times: number }[];
  login: string;
  canPush: boolean;
  signedIn: boolean;
  next: number;
}

export function openState(dir: string): {
  read(): State;
  change<Result>(action: (state: State) => Result): Result;
};
export function GH(dir: string): string;
