/** The files of a workspace at one moment. */
export interface TreeState {
  /** A word for the content of those that git does not ignore. */
  word: string;
  /** A word for the content of all that can be work. */
  content: string;
  /** The paths that the first word is about, each with a word for its content. */
  files(): ReadonlyMap<string, string>;
}

export interface Tree {
  /** As it was before the first check, where that is known. */
  before?: TreeState | undefined;
  read(): Promise<TreeState>;
  /** Files that checks of this run were seen to write. */
  own: Set<string>;
}

/** One verification: of which iteration, until when, and of which files. */
export interface Verification {
  iteration: number;
  /** Aborted: finish what is running, start nothing more. */
  stop: AbortSignal;
  /** Aborted: end at once. */
  kill: AbortSignal;
  /** The workspace, where it has to be the same before the first check and after the last. */
  tree?: Tree | undefined;
}
