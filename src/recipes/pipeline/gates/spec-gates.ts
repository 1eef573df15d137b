import { Lexer, type Token, type Tokens } from "marked";
import { errorsIn, findingsIn, type Gate, type GateFinding } from "./gate.js";

/** Is everything there that somebody would need to know? */
export const STRESS_TEST: Gate = {
  about: "spec",
  passed: "Instruction generated",
  judge: (text, { file }) => stressTest(file, text),
};

const PROBLEM = /\b(problem|pain points?|motivation|background|user journey|why)\b/i;
const CRITERIA = /\b(success|acceptance)\b.*\b(criteri|metrics?\b|measures?\b)|\bdefinition of done\b/i;
const SCOPE = /\bscope\b|\bnon-goals\b|\bout of scope\b/i;
const VERIFICATION = /\bverif|\bvalidat|\btest(s|ing|ed)?\b/i;

/** Qualities without a measure. */
const VAGUE =
  /\b(fast|faster|slow|quick(?:ly)?|eas(?:y|ier|ily)|simpl[ey]|intuitive(?:ly)?|user[- ]friendly|friendly|nice(?:ly)?|good|well|better|best|great|clean|modern|robust(?:ly)?|scalable|secure(?:ly)?|reliabl[ey]|efficient(?:ly)?|performant|responsive(?:ly)?|seamless(?:ly)?|smooth(?:ly)?|beautiful|pleasant|happy|happier|satisf(?:ied|ying|action)|delight(?:s|ed|ful)?|pleas(?:es|ed|ing)|impress(?:ed|ive)?|excit(?:ed|ing)|engag(?:ed|ing)|enjoy(?:s|able)?|lov(?:e|es|ely)|feels?|comfortabl[ey]|convenient(?:ly)?|elegant|powerful|high[- ]quality|flexible|usable|works?)\b/i;

const MIN_WORDS = 100;

export function stressTest(file: string, text: string): GateFinding[] {
  const { lines, section } = documentOf(text);
  const { error, warning } = findingsIn(file);
  const words = lines.flatMap((line) => line.text.match(/[\p{L}\p{N}][\p{L}\p{N}'’-]*/gu) ?? []).length;
  const [problem, criteria] = [PROBLEM, CRITERIA].map(section);
  const findings = [
    problem === undefined && error(1, 'no problem section: add "## Problem" and say what is wrong today'),
    problem !== undefined &&
      !saysSomething(problem) &&
      error(problem.line, `"${problem.title}" says nothing: say what is wrong today, and for whom`),
    criteria === undefined &&
      error(1, 'no success or acceptance criteria: add "## Success criteria" with a list'),
    criteria?.items.length === 0 &&
      error(criteria.line, `"${criteria.title}" holds no criterion: write each one as an item of a list`),
    words < MIN_WORDS && error(1, `only ${words} words, and at least ${MIN_WORDS} are needed`),
    !section(SCOPE) && warning(1, "no scope section: say what is out of scope"),
    !section(VERIFICATION) && warning(1, "no verification section: say how to check the result"),
  ];
  // The same word is named once.
  const vague = new Map<string, number>();
  for (const { text: content, line } of lines.toReversed()) {
    const word = VAGUE.exec(content)?.[0].toLowerCase();
    if (word !== undefined) vague.set(word, line);
  }
  const named = [...vague].map(([word, line]) => warning(line, `"${word}" is vague: say how to measure it`));
  return [...findings.filter((finding) => finding !== false), ...named.sort((a, b) => a.line - b.line)];
}

export function criteriaIn(text: string): SpecLine[] {
  return documentOf(text).section(CRITERIA)?.items ?? [];
}

/** Can it be understood in one way alone, and could somebody tell whether it is done? */
export const VALIDATE: Gate = {
  about: "spec",
  passed: "Structure validation passed",
  judge: (text, { file }) => validate(file, text),
};

export function validate(file: string, text: string): GateFinding[] {
  const incomplete = errorsIn(stressTest(file, text));
  if (incomplete.length > 0)
    return incomplete.map((finding) => ({ ...finding, message: `stress-test: ${finding.message}` }));
  const { error, warning } = findingsIn(file);
  const criteria = criteriaIn(text);
  const inCriteria = criteria.flatMap(({ text: criterion, line }) =>
    [ambiguityIn(criterion), whyUnmeasurable(criterion)]
      .filter((message) => message !== undefined)
      .map((message) => error(line, message)),
  );
  const first = new Set(criteria.map(({ line }) => line));
  const elsewhere = documentOf(text).lines.flatMap(({ text: content, line }) => {
    const message = first.has(line) ? undefined : ambiguityIn(content);
    return message === undefined ? [] : [warning(line, message)];
  });
  return [...inCriteria, ...elsewhere].sort((a, b) => a.line - b.line);
}

/** Words that two readers understand in two ways. */
const AMBIGUOUS =
  /\b(properly|correctly|appropriate(?:ly)?|adequate(?:ly)?|reasonabl[ey]|sufficient(?:ly)?|as (?:needed|required|necessary|appropriate)|if (?:needed|necessary|possible)|where (?:needed|possible)|and so on|and\/or|various|somehow|etc|tbd|todo|to be (?:defined|decided|determined))\b/i;

/** Somebody could look and see it. */
const OBSERVABLE =
  /\b(return|store|save|show|display|print|exit|fail|reject|refuse|accept|create|delete|remove|add|list|send|receive|write|read|open|close|contain|hold|include|equal|match|log|raise|throw|redirect|respond|answer|keep|update|replace|sort|filter|find|load|render|export|import|count|start|stop|finish|end|complete|pass|call|ask|notify|report|record|produce|generate|give|get|set|take|use|run|change|stay|remain|survive|appear|disappear|succeed|block|lock|unlock|allow|deny|restore|retry|skip|ignore|warn|download|upload|copy|move|rename|parse|convert|calculate|compute|validate|verify|log in|sign|exist|play|pause|submit|reload|navigate|scroll|click|press|tap|select|toggle|expire|happen|occur|crash|persist|lead|point|arrive|fit|wrap|turn|become|match)(?:s|es|d|ed|ing|ned|ning|ped|ping|ten|tten)?\b|\b(?:has|have|sees?|seen|shown|kept|written|sent|found|read|held|given|set|put|gone|left|no|none|only|exactly|unique|empty|equal|same|null|true|false|ran|lost|can|cannot|must|visible|invisible|hidden|present|absent|available|unavailable|active|inactive|clickable|reachable|unreachable|online|offline|blank|focus|there (?:is|are)|(?:is|are) (?:not )?(?:there|on|off|in|at|above|below|under|next to|beside|behind|before|after|within|inside|outside|first|last|grey|gray|red|green|blue|black|white|bold|zero|valid|invalid|identical|different|sortable|readable|writable|executable))\b|\b\w{3,}ed\b/i;

/** `all` with a number, or with the place where they are listed, has an end. */
const UNBOUNDED =
  /(?<!\bat )\b(all|every(?:thing|body|one|where))\b(?!\s+(?:of\s+)?(?:the\s+|these\s+|those\s+)?(?:\d|two\b|three\b|four\b|five\b|six\b|seven\b|eight\b|nine\b|ten\b))/i;

const LISTED = /\b(listed|above|below|following|named in|in the table|in section)\b/i;

/** A figure, a code or a quotation says exactly what is meant. */
const MEASURE =
  /(?<!SC-|FR-|\d)\d|`[^`]+`|"[^"]+"|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|once|twice|hundred|half)\b/i;

function ambiguityIn(text: string): string | undefined {
  const word = AMBIGUOUS.exec(text)?.[0];
  if (word !== undefined) return `"${word}" is ambiguous: say what you mean`;
  const unbounded = LISTED.test(text) ? undefined : UNBOUNDED.exec(text)?.[0];
  return unbounded && `"${unbounded}" has no limit: say which, or how many`;
}

/** `SC-1`, `AC2:`, and the first column of a table: it counts criteria, and measures nothing. */
const NUMBER = /^\W*(?:SC-\d+\W*|[A-Z]{1,4}-?\d+(?:\.\d+)*\s?[:.)|]|\w{0,4}[-_ ]?\d+(?:\.\d+)*[.)]?\s?\|)/;

/** Why nothing could tell whether a criterion is met. */
function whyUnmeasurable(text: string): string | undefined {
  const bare = text.replace(NUMBER, "");
  if (MEASURE.test(bare)) return undefined;
  const word = VAGUE.exec(bare)?.[0];
  if (word !== undefined)
    return `nothing could measure "${word}": give a figure, or say what one can observe`;
  if (OBSERVABLE.test(bare)) return undefined;
  return "this cannot be measured: give a figure, or say what can be observed when it is met";
}

interface SpecLine {
  text: string;
  line: number;
  level?: number;
  /** What an item of a list says, with the lines that continue it, or a row of a table. */
  item?: string;
}

/** A part of a document under its heading, with the parts below it. */
export interface Section {
  title: string;
  level: number;
  line: number;
  body: SpecLine[];
  items: { text: string; line: number }[];
}

interface SpecDocument {
  /** All lines but those in code and comments: the words there are not the author's. */
  lines: SpecLine[];
  sections: Section[];
  section(title: RegExp): Section | undefined;
}

/** A line of bold words alone stands for a heading, below all others. */
const BOLD_LEVEL = 7;

export function documentOf(text: string): SpecDocument {
  const own = text
    .replace(/^\ufeff/, "")
    .replace(/\r\n?/g, "\n")
    // Lines keep their numbers.
    .replace(/^---\n\w+:[\s\S]*?\n---(?=\n|$)/, (matter) => matter.replace(/[^\n]/g, ""));
  const lines = linesIn(new Lexer().blockTokens(own), 1);
  const sections = lines.flatMap(({ text: title, level, line }, index): Section[] => {
    if (level === undefined) return [];
    const rest = lines.slice(index + 1);
    const end = rest.findIndex((next) => (next.level ?? Number.POSITIVE_INFINITY) <= level);
    const body = end < 0 ? rest : rest.slice(0, end);
    const items = body.flatMap((one) => (one.item === undefined ? [] : [{ text: one.item, line: one.line }]));
    return [{ title, level, line, body, items }];
  });
  // The title of the document is no part of it.
  const isTitled = sections[0]?.level === 1 && sections.filter(({ level }) => level === 1).length === 1;
  const section = (title: RegExp) => {
    const called = sections.slice(isTitled ? 1 : 0).filter((one) => title.test(one.title));
    return called.find(({ level }) => level < BOLD_LEVEL) ?? called[0];
  };
  return { lines, sections, section };
}

function linesIn(tokens: Token[], first: number): SpecLine[] {
  let next = first;
  return tokens.flatMap((token): SpecLine[] => {
    const line = next;
    next += token.raw.split("\n").length - 1;
    if (token.type === "heading") return [{ text: token["text"], line, level: token["depth"] }];
    if (token.type === "list") return linesIn((token as Tokens.List).items, line);
    if (token.type === "list_item") return itemLines(token as Tokens.ListItem, line);
    const isFenced = token.type === "code" && token["codeBlockStyle"] !== "indented";
    if (isFenced || (token.type === "html" && token.raw.startsWith("<!--"))) return [];
    const lines = token.raw
      .trimEnd()
      .split("\n")
      .map((text, index) => ({ text, line: line + index }));
    if (token.type !== "table") return lines.flatMap(lineAsItIsMeant);
    // The first two lines of a table are the names of its columns and a rule.
    return lines.map((row, index) => (index < 2 ? row : { ...row, item: row.text.trim() }));
  });
}

function itemLines({ raw, tokens }: Tokens.ListItem, line: number): SpecLine[] {
  const own = tokens.filter(({ type }) => type === "text" || type === "paragraph");
  const item = own
    .map((token) => token.raw)
    .join(" ")
    .replace(/\s+/g, " ")
    .replace(/^\[[ xX]\] /, "")
    .trim();
  const [, ...rest] = linesIn(tokens, line);
  return [{ text: raw.split("\n", 1)[0] ?? "", line, ...(item !== "" && { item }) }, ...rest];
}

/** A bold word can be a heading (`**Problem:** it is slow`), and a bold number or a row without a table a criterion. */
function lineAsItIsMeant({ text, line }: SpecLine): SpecLine[] {
  if (/^\**SC-\d+\b|^\s*\|.*\w/.test(text)) return [{ text, line, item: text.trim() }];
  const [, bold, end = "", said = ""] = /^\*\*([^*]+)\*\*(:?)(.*)$/.exec(text.trimEnd()) ?? [];
  if (bold === undefined || /^FR-\d/.test(bold) || (said !== "" && end === "" && !bold.endsWith(":")))
    return [{ text, line }];
  return [
    { text: bold.replace(/:$/, ""), line, level: BOLD_LEVEL },
    { text: said, line },
  ];
}

export function saysSomething({ body }: Section): boolean {
  return body.some(({ text, level }) => level === undefined && /[\p{L}\p{N}]/u.test(text));
}
