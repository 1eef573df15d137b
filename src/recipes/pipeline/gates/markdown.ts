/** A part of a document under its heading, with the parts below it. */
export interface Section {
  title: string;
  level: number;
  line: number;
  body: Line[];
}

export interface Line {
  text: string;
  /** From 1 on. */
  line: number;
}

/** A line of bold words alone stands for a heading, below all others. */
const BOLD_LEVEL = 7;

export function sectionsOf(text: string): Section[] {
  const found: Section[] = [];
  let open: Section[] = [];
  for (const line of withoutCode(linesOf(text))) {
    const heading = headingIn(line.text);
    if (heading !== undefined) open = open.filter(({ level }) => level < heading.level);
    for (const { body } of open) body.push(line);
    if (heading === undefined) continue;
    const { said, ...titled } = heading;
    const section = { ...titled, line: line.line, body: said === "" ? [] : [{ ...line, text: said }] };
    found.push(section);
    open.push(section);
  }
  return found;
}

/** What stands in comments is not said, and an underlined heading is one like all others. */
export function linesOf(text: string): Line[] {
  const lines = withoutComments(withoutFrontMatter(text.replace(/^\ufeff/, "")))
    .split(/\r?\n/)
    .map((content, index) => ({ text: content, line: index + 1 }));
  return lines.map((line, index) => {
    const level = underlined(line.text, lines[index + 1]?.text ?? "");
    if (level !== undefined) return { ...line, text: `${"#".repeat(level)} ${line.text.trim()}` };
    const isUnderline = underlined(lines[index - 1]?.text ?? "", line.text) !== undefined;
    return isUnderline ? { ...line, text: "" } : line;
  });
}

/** Lines keep their numbers. What stands in code is no comment. */
function withoutComments(text: string): string {
  const pattern =
    /^ {0,3}(`{3,}|~{3,})[^\n]*\n(?:(?! {0,3}\1)[^\n]*\n)*|`[^`\n]*`|<!--[\s\S]*?(?:-->|$(?![\s\S]))/gm;
  return text.replace(pattern, (piece) => (piece.startsWith("<!--") ? emptied(piece) : piece));
}

function withoutFrontMatter(text: string): string {
  return text.replace(/^---\r?\n\w+:[\s\S]*?\n---(?=\r?\n|$)/, emptied);
}

function emptied(text: string): string {
  return text.replace(/[^\n]/g, "");
}

/** Of a text alone: a rule below a list, a table or nothing is a rule. */
function underlined(text: string, below: string): 1 | 2 | undefined {
  const mark = below.trim();
  if (!/^(?:=+|-{2,})$/.test(mark) || !/^ {0,3}[^\s#>|*+\-`~=\d]/.test(text)) return undefined;
  return mark.startsWith("=") ? 1 : 2;
}

/** Code stands for itself: a comment in it is no heading, and its words are not the author's. */
export function withoutCode(lines: Line[]): Line[] {
  let fence: string | undefined;
  return lines.filter(({ text }) => {
    const mark = /^\s*(`{3,}|~{3,})/.exec(text)?.[1];
    if (fence === undefined) {
      fence = mark;
      return mark === undefined;
    }
    if (mark?.startsWith(fence)) fence = undefined;
    return false;
  });
}

interface Heading extends Pick<Section, "title" | "level"> {
  /** What follows in the same line: `**Problem:** it is slow`. */
  said: string;
}

/** No title is longer than this. */
const TITLE_CHARS = 1000;

function headingIn(line: string): Heading | undefined {
  const text = line.trimEnd();
  if (text.length > TITLE_CHARS) return undefined;
  const [, marks, title] = /^ {0,3}(#{1,6})[ \t](.*)$/.exec(text) ?? [];
  if (marks !== undefined) return { title: titleIn(title ?? ""), level: marks.length, said: "" };
  const [, bold, end = "", said = ""] = /^\*\*([^*]+)\*\*(:?)(.*)$/.exec(text) ?? [];
  if (bold === undefined || LABEL.test(bold)) return undefined;
  if (said !== "" && end === "" && !bold.endsWith(":")) return undefined;
  return { title: bold.replace(/:$/, ""), level: BOLD_LEVEL, said: said.trim() };
}

/** A criterion in bold is no heading. */
const LABEL = /^(?:SC|FR)-\d/;

function titleIn(text: string): string {
  return text
    .trim()
    .replace(/(?:^|[ \t])#+$/, "")
    .trim();
}

/** The title of the document is no part of it. */
export function sectionCalled(sections: Section[], title: RegExp): Section | undefined {
  const isTitled = sections.filter(({ level }) => level === 1).length === 1 && sections[0]?.level === 1;
  const called = sections.slice(isTitled ? 1 : 0).filter((section) => title.test(section.title));
  return called.find(({ level }) => level < BOLD_LEVEL) ?? called[0];
}

/** Whether something stands below the heading. */
export function saysSomething({ body }: Section): boolean {
  return body.some(({ text }) => /[\p{L}\p{N}]/u.test(headingIn(text)?.said ?? text));
}

/** Items of lists and rows of tables, each with the lines that continue it. */
export function itemsIn({ body }: Section): Line[] {
  const items: Line[] = [];
  for (const [index, { text, line }] of body.entries()) {
    const item = itemText(text) ?? rowText(text, body[index + 1]?.text ?? "");
    if (item !== undefined) items.push({ text: item, line });
    else if (/^\s+\S/.test(text) && items.length > 0) continueLast(items, text.trim());
  }
  return items;
}

function continueLast(items: Line[], text: string): void {
  const last = items.at(-1);
  if (last !== undefined) last.text += ` ${text}`;
}

function itemText(text: string): string | undefined {
  const item = /^(?:[-*+]|\d{1,9}[.)])\s(.*)$/.exec(text.trim())?.[1]?.trim();
  return item?.replace(/^\[[ xX]\]\s/, "").trim() || labelled(text);
}

function labelled(text: string): string | undefined {
  return /^\**SC-\d+\b/.test(text) ? text : undefined;
}

function isRule(text: string): boolean {
  return text.includes("-") && /^[\s:|-]*$/.test(text);
}

/** The row above the rule holds the names of the columns. */
function rowText(text: string, below: string): string | undefined {
  const row = text.trim();
  return row.startsWith("|") && !isRule(row) && !isRule(below) ? row : undefined;
}

/** Without those in code. */
export function wordCount(text: string): number {
  const own = withoutCode(linesOf(text)).map((line) => line.text);
  return own.join("\n").match(/[\p{L}\p{N}][\p{L}\p{N}'’-]*/gu)?.length ?? 0;
}
