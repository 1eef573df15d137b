import { git } from "../git.js";
import { isPartOf } from "./merge.js";

/** Work that has landed: what it added to the target is the difference between the two commits. */
export interface LandedWork {
  /** What people call it, such as the id of a story. */
  name: string;
  /** Where the target stood before it. */
  old: string;
  /** Where it stood after it; left out: the target as it is now. */
  new?: string | undefined;
  /** The commit that was landed, unless its commits were squashed. */
  tip?: string | undefined;
}

/** A line that landed and would be gone. */
interface LostLine {
  /** Whose it is. */
  name: string;
  file: string;
  line: string;
}

export interface Losses {
  lines: LostLine[];
  /** Landed work whose commits the target does not hold any more. */
  gone: string[];
}

interface ProofRequest {
  repository: string;
  /** Where the target is now. */
  old: string;
  /** What it is to become. */
  commit: string;
  tip: string;
  /** Where the work began, and where it met the target last: somewhere else if it was rebased. */
  since: string;
  base: string;
  earlier: LandedWork[];
  /** Files that the caller merges itself. */
  except: string[];
}

/**
 * What of the work that landed earlier would disappear with a commit. A line that landed may go when an ordinary
 * commit of the tip removes it: then the work is about it. It may not go in a merge, as when a conflict is resolved by
 * taking a side; nor may one that came while the work was done, if the work was rebased onto it, as that resolves
 * conflicts, too. A line whose words are all in a line that replaces it has been edited, and is not lost.
 */
export async function lossesOf(question: ProofRequest): Promise<Losses> {
  const { repository, old, commit, tip, since, base, earlier, except } = question;
  const paths = ["--", ...except.map((file) => `:(top,exclude,literal)${file}`)];
  const diff = async (args: string[], stdin = ""): Promise<Hunk[]> =>
    hunksOf((await git(repository, ["diff-tree", ...PATCH, ...args, ...paths], { stdin })).stdout);
  const [gone, changes] = await Promise.all([goneFrom(repository, commit, earlier), diff([old, commit])]);
  const missing = missingIn(changes);
  if (missing.size === 0) return { lines: [], gone };
  // What each commit of the tip does, merges left out: those add nothing of their own.
  const { stdout: all } = await git(repository, ["rev-list", "--parents", `${old}..${tip}`]);
  const commits = all.replace(/^\w+ \w+ \w.*\n/gm, "");
  const isRebased = since !== base && commits === all;
  const unseen = new Set(
    (isRebased ? linesIn(await diff([since, old])) : []).map(({ sign, key }) => sign + key),
  );
  const done = linesIn(await diff(["--stdin", "--no-commit-id"], commits.replace(/ .*/g, "")));
  for (const { key } of done.filter(({ sign, key }) => sign === "-" && !unseen.has(`+${key}`)))
    countDown(missing, key);
  const lines: LostLine[] = [];
  for (const { name, old: from, new: to = old } of missing.size === 0 ? [] : earlier)
    for (const { file, sign, key, line } of linesIn(await diff([from, to])))
      if (sign === "+" && missing.delete(key)) lines.push({ name, file, line });
  return { lines, gone };
}

async function goneFrom(repository: string, commit: string, earlier: LandedWork[]): Promise<string[]> {
  const tips = earlier.flatMap(({ new: moved, tip }) => [moved, tip].filter((one) => one !== undefined));
  if (tips.length === 0) return [];
  // One question for all of them; mostly nothing is gone.
  const stdin = [...tips, `^${commit}`].join("\n");
  const missing = await git(repository, ["rev-list", "--max-count=1", "--stdin"], { stdin });
  if (missing.ok && missing.stdout === "") return [];
  const gone: string[] = [];
  for (const one of earlier)
    for (const each of [one.new, one.tip])
      if (each !== undefined && !(await isPartOf(repository, each, commit))) gone.push(one.name);
  return [...new Set(gone)];
}

function linesIn(hunks: Hunk[]) {
  return hunks.flatMap(({ file, lines }) => lines.map((line) => ({ file, ...line })));
}

function countDown(counts: Map<string, number>, key: string): void {
  const left = (counts.get(key) ?? 0) - 1;
  if (left > 0) counts.set(key, left);
  else counts.delete(key);
}

/** Lines that were in the old tree and are missing in the new one, each with how often. */
function missingIn(hunks: Hunk[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { lines } of hunks) {
    const added = lines.filter(({ sign }) => sign === "+").map(({ line }) => wordsOf(line));
    for (const { sign, key, line } of lines) {
      if (sign === "-" && isAmong(wordsOf(line), added)) continue;
      counts.set(key, (counts.get(key) ?? 0) + (sign === "-" ? 1 : -1));
    }
  }
  return new Map([...counts].filter(([, count]) => count > 0));
}

function wordsOf(line: string): string[] {
  return line.match(/[\p{L}\p{N}_]+/gu) ?? [];
}

/** Whether the words of a line stand in their order in one of the lines, or side by side in all of them. */
function isAmong(words: string[], lines: string[][]): boolean {
  const isInOrder = (line: string[]): boolean => {
    let next = 0;
    for (const word of line) if (word === words[next]) next += 1;
    return next === words.length;
  };
  // Lines without a word, such as brackets, say nothing of whose they are.
  if (words.length === 0) return true;
  return lines.some(isInOrder) || ` ${lines.flat().join(" ")} `.includes(` ${words.join(" ")} `);
}

interface Line {
  sign: "+" | "-";
  line: string;
  /** The line without what indentation and line ends do to it. */
  key: string;
}

interface Hunk {
  file: string;
  lines: Line[];
}

/** Plumbing: no setting of the user's has a say. */
const PATCH = [
  ...["-r", "-p", "-U0", "--root", "--no-renames", "--full-index"],
  ...["--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/"],
];

/** Reads a patch without context. A binary file counts as one line, and so does a mode that is not the usual one. */
function hunksOf(patch: string): Hunk[] {
  return patch.split(/^(?=diff --git )/m).flatMap((section) => {
    const [head = "", ...hunks] = section.split(/^(?=@@ )/m);
    const [, file = ""] = /^diff --git "?a\/(.*?)"? "?b\//.exec(head) ?? [];
    const texts = hunks.map((hunk) => hunk.split("\n").slice(1).flatMap(lineOf));
    return [asLines(head, file), ...texts]
      .filter((lines) => lines.length > 0)
      .map((lines) => ({ file, lines }));
  });
}

function asLines(head: string, file: string): Line[] {
  const [, before, after] = /^index (\w+)\.\.(\w+)/m.exec(head) ?? [];
  const isBinary = /^Binary files /m.test(head);
  const modes = head.matchAll(/^(old|new|new file|deleted file) mode (\d+)$/gm);
  return [
    ...(isBinary ? [`-${file}: binary ${before}`, `+${file}: binary ${after}`] : []),
    ...[...modes].flatMap(([, how = "", mode]) => {
      if (how.endsWith("file") && mode === "100644") return [];
      return `${how.startsWith("new") ? "+" : "-"}${file}: mode ${mode}`;
    }),
  ].flatMap(lineOf);
}

/** Where a file has no end of line, git says so between the lines. */
function lineOf(text: string): Line[] {
  const [sign, line] = [text[0], text.slice(1)];
  return sign === "+" || sign === "-" ? [{ sign, line, key: line.trim().replace(/\s+/g, " ") }] : [];
}
