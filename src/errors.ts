export interface RalphErrorOptions {
  /** Stable word for programs, e.g. `settings_invalid`. */
  code: string;
  /** 2 unless said otherwise: nothing was started. */
  exitCode?: number;
  /** What to do about it; printed after the message. */
  hint?: string | undefined;
  cause?: unknown;
  /** A run that comes to this can never go on. */
  isFinal?: boolean;
}

/** A failure that the user can act on. Printed once, as one line, by `cli.ts`. */
export class RalphError extends Error {
  override readonly name = "RalphError";
  readonly code: string;
  readonly exitCode: number;
  readonly hint: string | undefined;
  readonly isFinal: boolean;

  constructor(message: string, options: RalphErrorOptions) {
    super(message, { cause: options.cause });
    this.code = options.code;
    this.exitCode = options.exitCode ?? 2;
    this.hint = options.hint;
    this.isFinal = options.isFinal ?? false;
  }
}

/** A failure of the system that the user can act on, such as a full disk, as a RalphError. */
export function toRalphError(error: unknown): RalphError | undefined {
  if (error instanceof RalphError) return error;
  const code = systemErrorCode(error);
  if (code === undefined || !(code in SYSTEM_ERRORS)) return undefined;
  if (error instanceof Error && "syscall" in error && error.syscall === "uv_cwd")
    return new RalphError("the current folder no longer exists", {
      code: "folder_gone",
      hint: "change to another one",
      cause: error,
    });
  const path = error instanceof Error && "path" in error ? String(error.path) : "";
  return new RalphError(`cannot use ${path || "a file"}: ${SYSTEM_ERRORS[code]}`, {
    code: "system_error",
    cause: error,
  });
}

/** The system's word for what went wrong with a file, or the error's own message. */
export function describeSystemError(error: unknown): string {
  const code = systemErrorCode(error);
  if (code !== undefined && code in SYSTEM_ERRORS) return SYSTEM_ERRORS[code] as string;
  return error instanceof Error ? error.message : String(error);
}

export function systemErrorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

const SYSTEM_ERRORS: Record<string, string> = {
  EACCES: "permission denied",
  EPERM: "not permitted",
  EISDIR: "it is a directory",
  ENOENT: "no such file",
  ENOSPC: "no space left on the disk",
  EDQUOT: "disk quota exceeded",
  EROFS: "read-only file system",
  ENOTDIR: "a part of the path is not a directory",
  EEXIST: "something else is there",
  ELOOP: "too many links",
  ENAMETOOLONG: "the name is too long",
  EMFILE: "too many open files",
  EIO: "input/output error",
  E2BIG: "the arguments are too long; put the prompt into a file with {prompt_file}",
};

/** What an action returns, or `otherwise` where it throws: for failures that say no more than that. */
export function orElse<Value, Other>(action: () => Value, otherwise: Other): Value | Other {
  try {
    return action();
  } catch {
    return otherwise;
  }
}
