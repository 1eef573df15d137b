import { type DoctorContext, type DoctorFinding, installCommand, programPath } from "./context.js";
import { ask, askVersion, type ProgramAnswer } from "./probe.js";

/** Git, the repository around this folder, and what a commit needs. */
export async function examineGit(context: DoctorContext): Promise<DoctorFinding[]> {
  const path = programPath(context, "git");
  if (path === undefined) {
    const message = "not installed: ralph cannot tell which files changed, nor commit them";
    const fix = installCommand(context, "git");
    return [{ name: "git", status: "warning", message, fix, installed: false }];
  }
  const git = (...args: string[]): Promise<ProgramAnswer> => ask(context, path, args);
  const identity = ["-c", "user.useConfigOnly=true", "var"];
  const [version, top, head, author, committer] = await Promise.all([
    askVersion(context, path),
    git("rev-parse", "--show-toplevel"),
    git("rev-parse", "--verify", "--short", "HEAD"),
    git(...identity, "GIT_AUTHOR_IDENT"),
    git(...identity, "GIT_COMMITTER_IDENT"),
  ]);
  const program = { name: "git", installed: true, path };
  return [
    version.status === "answered"
      ? { ...program, status: "ok", message: `${version.version} at ${path}`, version: version.version }
      : { ...program, status: "warning", message: `git --version: ${version.why}`, fix: "install git anew" },
    repository(top, context),
    ...(top.status === "answered" ? [commit(head)] : []),
    committer.status === "answered" ? who(author) : who(committer),
  ];
}

function repository(top: ProgramAnswer, { workspace }: DoctorContext): DoctorFinding {
  const name = "repository";
  if (top.status === "answered") {
    const path = top.text.trim();
    return { name, status: "ok", message: path, path };
  }
  const isNone = top.why.includes("not a git repository");
  const isForeign = top.why.includes("dubious ownership");
  const trust = `git config --global --add safe.directory ${workspace}`;
  return {
    name,
    status: "warning",
    message: isNone
      ? "this folder is in no git repository: nothing can be undone"
      : `git does not read it: ${top.why}`,
    fix: isNone ? "git init" : isForeign ? trust : "git status shows more",
  };
}

function commit(head: ProgramAnswer): DoctorFinding {
  if (head.status === "answered") return { name: "commit", status: "ok", message: head.text.trim() };
  const message = "there is none yet, so there is nothing to compare with or go back to";
  return { name: "commit", status: "warning", message, fix: 'git add -A && git commit -m "First commit"' };
}

function who(person: ProgramAnswer): DoctorFinding {
  const name = "identity";
  if (person.status === "answered")
    return { name, status: "ok", message: person.text.replace(/>.*\s*$/, ">") };
  return {
    name,
    status: "warning",
    message: "user.name or user.email is not set, and commits need both",
    fix: 'git config --global user.name "Your Name" && git config --global user.email you@example.com',
  };
}
