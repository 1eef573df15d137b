import { Lexer, type Token, type Tokens } from "marked";

export interface SpecLine {
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

export interface SpecDocument {
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
