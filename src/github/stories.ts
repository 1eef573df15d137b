import { RalphError } from "../errors.js";
import { harmless, harmlessLine } from "../views/harmless.js";
import { fullName, type Issue } from "./forge.js";
import { type ForgeAsked, forgeOf } from "./remote.js";

interface StoriesRequest extends ForgeAsked {
  label: string | undefined;
  milestone: string | undefined;
  trustAuthor: boolean;
}

/** The open issues of a repository as a list of stories: its name, and the text of a prd.json. */
export async function storiesOnGitHub(
  checkout: string,
  asked: StoriesRequest,
): Promise<{ name: string; text: string }> {
  const { label, milestone, trustAuthor, ...options } = asked;
  const forge = await forgeOf(checkout, options);
  const all = await forge.issues.list({ label, milestone });
  const issues = all.filter(({ author }) => trustAuthor || author.mayWrite);
  const left = all.filter((issue) => !issues.includes(issue)).map(({ number }) => `#${number}`);
  if (left.length > 0)
    options.tell(`skipped: people without write access wrote them (--trust-author): ${left.join(", ")}`);
  const name = `the issues of ${fullName(forge.repo)}`;
  if (issues.length === 0)
    throw new RalphError(`cannot import: no open issue matches in ${name}`, {
      code: "import_invalid",
      hint: `look at --label and --milestone: ${forge.commands.issues}`,
    });
  const known = new Set(issues.map(({ number }) => number));
  const branchName = `ralph/${(milestone ?? label ?? "issues").toLowerCase().replace(/[^a-z0-9]+/g, "-")}`;
  const list = {
    project: fullName(forge.repo),
    branchName,
    userStories: issues.map((issue) => storyOf(issue, known)),
  };
  return { name, text: JSON.stringify(list) };
}

const BOX = /^\s*[-*+]\s+\[[ xX]\]\s+(.+)$/gm;
const BLOCKED = /\b(?:blocked by|depends on|requires)((?:[\s,:]|and|#\d+)+)/gi;
/** A box that names an issue is no criterion, but something that has to be done first. */
const ISSUE_ALONE = /^(?:#|https?:\/\/\S+\/issues\/)(\d+)\b/;

/** One story. What it waits for outside of the list is done already, or not asked for. */
export function storyOf(
  { number, title, body }: Pick<Issue, "number" | "title" | "body">,
  known: Set<number>,
) {
  const shown = harmless(body.replace(/\r\n?/g, "\n").replace(/<!--[\s\S]*?(?:-->|$)/g, ""));
  const boxes = [...shown.matchAll(BOX)].map(([, text = ""]) => text.trim());
  const named = boxes.flatMap((text) => ISSUE_ALONE.exec(text)?.[1] ?? []);
  const blockers = [...shown.matchAll(BLOCKED)].flatMap(([, list = ""]) => list.match(/\d+/g) ?? []);
  const waitsFor = [...new Set([...named, ...blockers].map(Number))];
  const criteria = boxes.filter((text) => !ISSUE_ALONE.test(text)).map(harmlessLine);
  return {
    id: idOf(number),
    title: harmlessLine(title),
    description: shown
      .replace(BOX, "")
      .replace(/\n{3,}/g, "\n\n")
      .trim(),
    acceptanceCriteria: criteria.length === 0 ? [harmlessLine(title)] : criteria,
    dependsOn: waitsFor.filter((one) => known.has(one) && one !== number).map(idOf),
  };
}

const idOf = (number: number): string => `GH-${number}`;
