import { which } from "../../process/which.js";
import type { DoctorContext } from "./context.js";
import type { Finding } from "./finding.js";
import { installCommand } from "./install.js";
import { type Answer, ask, askVersion, type Version } from "./probe.js";

/** Git, the repository around this folder, and what a commit needs. */
export async function examineGit(context: DoctorContext): Promise<Finding[]> {
  const found = which("git", context.workspace, context.env["PATH"]);
  if (found.status !== "found") return [missing(context)];
  const { path } = found;
  const git = (...args: string[]): Promise<Answer> => ask(context, path, args);
  const identity = ["-c", "user.useConfigOnly=true", "var"];
  const [version, top, head, author, committer] = await Promise.all([
    askVersion(context, path),
    git("rev-parse", "--show-toplevel"),
    git("rev-parse", "--verify", "--short", "HEAD"),
    git(...identity, "GIT_AUTHOR_IDENT"),
    git(...identity, "GIT_COMMITTER_IDENT"),
  ]);
  return [
    program(version, path),
    repository(top, context),
    ...(top.status === "answered" ? [commit(head)] : []),
    who(author, committer),
  ];
}

function missing(context: DoctorContext): Finding {
  return {
    name: "git",
    status: "warning",
    message: "not installed: ralph cannot tell which files changed, nor commit them",
    fix: installCommand(context, "git"),
    installed: false,
  };
}

function program(version: Version, path: string): Finding {
  const base = { name: "git", installed: true, path };
  if (version.status !== "answered")
    return { ...base, status: "warning", message: `git --version: ${version.why}`, fix: "install git anew" };
  return { ...base, status: "ok", message: `${version.version} at ${path}`, version: version.version };
}

function repository(top: Answer, { workspace }: DoctorContext): Finding {
  const base = { name: "repository", status: "warning" as const };
  if (top.status === "answered") {
    const path = top.text.trim();
    return { ...base, status: "ok", message: path, path };
  }
  if (top.why.includes("not a git repository")) {
    return {
      ...base,
      message: "this folder is in no git repository: nothing can be undone",
      fix: "git init",
    };
  }
  const fix = top.why.includes("dubious ownership")
    ? `git config --global --add safe.directory ${workspace}`
    : "git status shows more";
  return { ...base, message: `git does not read it: ${top.why}`, fix };
}

function commit(head: Answer): Finding {
  if (head.status === "answered") return { name: "commit", status: "ok", message: head.text.trim() };
  return {
    name: "commit",
    status: "warning",
    message: "there is none yet, so there is nothing to compare with or go back to",
    fix: 'git add -A && git commit -m "First commit"',
  };
}

function who(author: Answer, committer: Answer): Finding {
  if (author.status === "answered" && committer.status === "answered") {
    return { name: "identity", status: "ok", message: author.text.replace(/>.*\s*$/, ">") };
  }
  return {
    name: "identity",
    status: "warning",
    message: "user.name or user.email is not set, and commits need both",
    fix: 'git config --global user.name "Your Name" && git config --global user.email you@example.com',
  };
}
