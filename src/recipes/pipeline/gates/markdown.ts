import { Lexer, type Token, type Tokens } from "marked";

/** A part of a document under its heading, with the parts below it. */
export interface Section {
  title: string;
  level: number;
  line: number;
  body: SpecLine[];
}

export interface SpecLine {
  text: string;
  /** From 1 on. */
  line: number;
  /** It is a heading. */
  level?: number;
  /** What an item of a list says, with the lines that continue it, or a row of a table. */
  item?: string;
}

/** A line of bold words alone stands for a heading, below all others. */
const BOLD_LEVEL = 7;

export function sectionsOf(text: string): Section[] {
  const found: Section[] = [];
  let open: Section[] = [];
  for (const line of linesOf(text)) {
    const { text: title, level = Number.POSITIVE_INFINITY } = line;
    open = open.filter((section) => section.level < level);
    for (const { body } of open) body.push(line);
    if (line.level === undefined) continue;
    const section = { title, level, line: line.line, body: [] };
    found.push(section);
    open.push(section);
  }
  return found;
}

/**
 * All lines but those in code and comments: the words there are not the author's. Lists and quotations that are
 * nested without end would exhaust the stack of the lexer.
 */
export function linesOf(text: string): SpecLine[] {
  const own = text
    .replace(/^\ufeff/, "")
    .replace(/\r\n?/g, "\n")
    .replace(/^[ \t>*+\-\d.)]{60,}/gm, (marks) => marks.slice(0, 60))
    .replace(/^---\n\w+:[\s\S]*?\n---(?=\n|$)/, emptied)
    .replace(COMMENTS, (piece) => (piece.startsWith("<!--") ? emptied(piece) : piece));
  return linesIn(new Lexer().blockTokens(own), 1);
}

/** What stands in code is no comment. */
const COMMENTS =
  /^ {0,3}(`{3,}|~{3,})[^\n]*\n(?:(?! {0,3}\1)[^\n]*\n)*|`[^`\n]*`|<!--[\s\S]*?(?:-->|$(?![\s\S]))/gm;

/** Lines keep their numbers. */
function emptied(text: string): string {
  return text.replace(/[^\n]/g, "");
}

function linesIn(tokens: Token[], first: number): SpecLine[] {
  let line = first;
  return tokens.flatMap((token) => {
    const found = linesOfToken(token, line);
    line += token.raw.split("\n").length - 1;
    return found;
  });
}

function linesOfToken(token: Token, line: number): SpecLine[] {
  if (token.type === "code" && token["codeBlockStyle"] !== "indented") return [];
  if (token.type === "heading") return [{ text: token["text"], line, level: token["depth"] }];
  if (token.type === "list") return itemLines((token as Tokens.List).items, line);
  const lines = token.raw
    .trimEnd()
    .split("\n")
    .map((text, index) => ({ text, line: line + index }));
  if (token.type !== "table") return lines.flatMap(lineAsItIsMeant);
  // The first two lines of a table are the names of its columns and a rule.
  return lines.map((row, index) => (index < 2 ? row : { ...row, item: row.text.trim() }));
}

function itemLines(items: Tokens.ListItem[], first: number): SpecLine[] {
  let line = first;
  return items.flatMap(({ raw, tokens }) => {
    const [text = ""] = raw.split("\n", 1);
    const own = tokens
      .filter(({ type }) => type === "text" || type === "paragraph")
      .map((token) => token.raw);
    const item = own
      .join(" ")
      .replace(/\s+/g, " ")
      .replace(/^\[[ xX]\] /, "")
      .trim();
    const [, ...rest] = linesIn(tokens, line);
    const found = [{ text, line, ...(item !== "" && { item }) }, ...rest];
    line += raw.split("\n").length - 1;
    return found;
  });
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

/** The title of the document is no part of it. */
export function sectionCalled(sections: Section[], title: RegExp): Section | undefined {
  const isTitled = sections.filter(({ level }) => level === 1).length === 1 && sections[0]?.level === 1;
  const called = sections.slice(isTitled ? 1 : 0).filter((section) => title.test(section.title));
  return called.find(({ level }) => level < BOLD_LEVEL) ?? called[0];
}

/** Whether something stands below the heading. */
export function saysSomething({ body }: Section): boolean {
  return body.some(({ text, level }) => level === undefined && /[\p{L}\p{N}]/u.test(text));
}

export function itemsIn({ body }: Section): SpecLine[] {
  return body.flatMap(({ item, line }) => (item === undefined ? [] : [{ text: item, line }]));
}

export function wordCount(text: string): number {
  const own = linesOf(text).map((line) => line.text);
  return own.join("\n").match(/[\p{L}\p{N}][\p{L}\p{N}'’-]*/gu)?.length ?? 0;
}
