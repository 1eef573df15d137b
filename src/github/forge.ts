import type { RalphError } from "../errors.js";

/** One kind of forge, such as GitHub: `remote.ts` lists them, and another one is one more file. */
export interface ForgeKind {
  /** Whether a host is one, as far as its name tells. */
  isAt(host: string): boolean;
  /** Whether the user is logged in there, for hosts whose name tells nothing. Throws where its program is missing. */
  isLoggedIn(host: string): Promise<boolean>;
  /** The host that an address of git leads to, where it goes by another name. */
  hostOf(host: string): string;
  open(repo: Repo, options: ForgeOptions): Forge;
}

export interface ForgeOptions {
  /** How long limits of the server are waited out in all. */
  patienceMs: number;
  /** What the user should know of a wait. */
  tell(text: string): void;
  stop?: AbortSignal | undefined;
}

/**
 * What ralph needs of a forge. Every method throws a RalphError that says what to do; answers that were lost are
 * looked for before anything is written again.
 */
export interface Forge {
  repo: Repo;
  /** Settings by which git logs in where it has no login of its own. */
  gitSettings: [name: string, value: string][];
  /** What the user can type to do something there. */
  commands: Record<"login" | "gitLogin" | "fork" | "issues", string> &
    Record<"reopenIssue" | "reopenPull" | "makeReady", (number: number) => string> & {
      setBase(pull: number, base: string): string;
    };
  repository(): Promise<Repository>;
  /** The login that ralph writes with; undefined: the forge does not say, as of a token of a program. */
  self(): Promise<string | undefined>;
  /** The commit of a branch; undefined: there is no such branch. */
  branch(name: string): Promise<string | undefined>;
  issues: {
    get(number: number): Promise<Issue>;
    /** Open ones, the oldest first. */
    list(filter: { label?: string | undefined; milestone?: string | undefined }): Promise<Issue[]>;
    comments(number: number): Promise<Comment[]>;
    /** `body` holds a marker: a comment with it is not written twice. */
    comment(number: number, body: string): Promise<Comment>;
    edit(comment: number, body: string): Promise<void>;
    remove(comment: number): Promise<void>;
    addLabel(number: number, label: string): Promise<void>;
    removeLabel(number: number, label: string): Promise<void>;
  };
  pulls: {
    get(number: number): Promise<PullRequest>;
    /** The latest one of that branch, open ones before others. */
    of(branch: string): Promise<PullRequest | undefined>;
    open(asked: NewPullRequest): Promise<PullRequest>;
    describe(number: number, body: string): Promise<void>;
    askReviewers(number: number, reviewers: string[]): Promise<void>;
  };
  checks: {
    of(commit: string): Promise<ForgeCheck[]>;
    /** What a failed check printed, or what it says of itself. */
    log(check: ForgeCheck): Promise<string>;
  };
  reviews: {
    list(pull: number): Promise<Review[]>;
    comments(pull: number): Promise<LineComment[]>;
    /** As `issues.comment`, in the thread of a line comment. */
    reply(pull: number, comment: number, body: string): Promise<void>;
  };
}

/** A repository on a forge, and the remote of the checkout that leads to it. */
export interface Repo {
  host: string;
  owner: string;
  name: string;
  remote: string;
}

interface Repository {
  defaultBranch: string;
  canPush: boolean;
}

export interface Person {
  login: string;
  /** As the forge says it: OWNER, MEMBER, COLLABORATOR, CONTRIBUTOR, NONE. */
  role: string;
  mayWrite: boolean;
  /** An account that no person can have. */
  isProgram: boolean;
}

export interface Issue {
  number: number;
  title: string;
  body: string;
  author: Person;
  labels: string[];
  isOpen: boolean;
  isPullRequest: boolean;
  url: string;
}

export interface Comment {
  id: number;
  author: Person;
  body: string;
  updatedAt: string;
}

export interface PullRequest {
  number: number;
  url: string;
  title: string;
  body: string;
  isOpen: boolean;
  isMerged: boolean;
  isDraft: boolean;
  /** null: the forge does not know yet. */
  mergeable: boolean | null;
  head: { branch: string; commit: string; repository: string };
  base: string;
}

interface NewPullRequest extends Pick<PullRequest, "title" | "body" | "base" | "isDraft"> {
  branch: string;
}

export interface ForgeCheck {
  id: number;
  name: string;
  status: "running" | "passed" | "failed";
  /** What it says of itself. */
  said: string;
  /** Whether there is a log to ask for. */
  hasLog: boolean;
}

export interface Review {
  id: number;
  author: Person;
  body: string;
  wantsChanges: boolean;
  isApproval: boolean;
}

export interface LineComment extends Comment {
  path: string;
  line: number | null;
  /** The lines of the diff that it is about. */
  hunk: string;
  /** The comment that began its thread, if it is not that one. */
  inReplyTo: number | null;
}

/** What passes by itself: a network that is down, a limit that lasts longer than anybody waits. */
export function isPassing({ code }: RalphError): boolean {
  return ["forge_unreachable", "forge_limited"].includes(code);
}

const FIRST_WAIT_MS = 1000;

/** Seconds between two looks, for tests and for the impatient. */
export function pollMs(given?: number): number {
  const seconds = given ?? Number(process.env["RALPH_GITHUB_POLL"] || 60);
  return (Number.isFinite(seconds) && seconds > 0 ? seconds : 60) * 1000;
}

/** Longer with each failure before. */
export function waitAfter(failures: number): number {
  return Math.min(FIRST_WAIT_MS, pollMs()) * 2 ** failures;
}

export function fullName({ owner, name }: Pick<Repo, "owner" | "name">): string {
  return `${owner}/${name}`;
}
