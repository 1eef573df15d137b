export type Status = "ok" | "warning" | "problem";

/** One thing that was looked at. */
export interface Finding {
  name: string;
  status: Status;
  message: string;
  /** What to do about it, a command to type where there is one. */
  fix?: string;
  /** false: it is not there, and need not be. */
  installed?: boolean;
  version?: string;
  path?: string;
  auth?: Auth;
  /** Settings files that were read. */
  files?: string[];
  freeBytes?: number;
}

/** Signs of how an agent signs in. Nothing of it is read: names and places only. */
export interface Auth {
  /** Variables that are set, the strongest first. */
  variables: string[];
  loginFile?: string;
  /** It may be in the system's keychain, which nobody asked. */
  keychain?: true;
}
