import { git } from "./git.js";

/** Branches that ralph made. */
const OWN = /^ralph\//;

/** Settings with which git knows where to push a branch that has no upstream. */
const KNOWN =
  /^(?:push\.default\ncurrent|push\.autosetupremote(?:\n(?:true|yes|on|1))?|remote\.pushdefault\n.*|branch\..*\.pushremote\n.*|remote\..*\.push\n.*)$/s;

/** More words for `git push`; a text is why it would push nothing. */
export async function whereToPush(workspace: string): Promise<string[] | string> {
  const head = await git(workspace, ["symbolic-ref", "--quiet", "HEAD"]);
  const ref = head.stdout.trim();
  const branch = ref.replace("refs/heads/", "");
  const { stdout } = await git(workspace, ["for-each-ref", "--format=%(upstream)", ref]);
  if (!head.ok || stdout.trim() !== "") return [];
  const remotes = (await git(workspace, ["remote"])).stdout.split("\n").filter(Boolean);
  if (remotes.length === 0)
    return `there is no remote, so nothing was pushed (run: git remote add origin URL, then git push --set-upstream origin ${branch})`;
  if (OWN.test(branch)) return ["--set-upstream", "origin", branch];
  const settings = await git(workspace, ["config", "--list", "-z"]);
  if (settings.stdout.split("\0").some((setting) => KNOWN.test(setting))) return [];
  return `the branch ${branch} has no upstream, so nothing was pushed (run: git push --set-upstream origin ${branch})`;
}
