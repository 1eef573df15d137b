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
  for (const line of withoutCode(linesOf(text))) {
    const heading = headingIn(line.text);
    const level = heading?.level ?? Number.POSITIVE_INFINITY;
    for (const open of found) if (open.level < level && isOpen(found, open)) open.body.push(line);
    if (heading !== undefined) found.push({ ...heading, line: line.line, body: [] });
  }
  return found;
}

/** Until a heading of its level or above it. */
function isOpen(found: Section[], section: Section): boolean {
  return found.slice(found.indexOf(section) + 1).every(({ level }) => level > section.level);
}

export function linesOf(text: string): Line[] {
  return text.split(/\r?\n/).map((content, index) => ({ text: content, line: index + 1 }));
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

function headingIn(text: string): Pick<Section, "title" | "level"> | undefined {
  const heading = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/.exec(text);
  if (heading !== null) return { title: heading[2] ?? "", level: heading[1]?.length ?? 1 };
  const bold = /^\*\*([^*]+?):?\*\*:?\s*$/.exec(text);
  return bold === null ? undefined : { title: bold[1] ?? "", level: BOLD_LEVEL };
}

/** The title of the document is no part of it. */
export function sectionCalled(sections: Section[], title: RegExp): Section | undefined {
  const isTitled = sections.filter(({ level }) => level === 1).length === 1 && sections[0]?.level === 1;
  return sections.slice(isTitled ? 1 : 0).find((section) => title.test(section.title));
}

/** Whether something stands below the heading. */
export function saysSomething({ body }: Section): boolean {
  return body.some(({ text }) => headingIn(text) === undefined && /[\p{L}\p{N}]/u.test(text));
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
  return /^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?(.*\S)/.exec(text)?.[1] ?? labelled(text);
}

function labelled(text: string): string | undefined {
  return /^\**SC-\d+\b/.test(text) ? text : undefined;
}

const RULE = /^\s*\|?[\s:|-]*-[\s:|-]*$/;

/** The row above the rule holds the names of the columns. */
function rowText(text: string, below: string): string | undefined {
  if (!/^\s*\|/.test(text) || RULE.test(text) || RULE.test(below)) return undefined;
  return text.trim();
}

export function wordCount(text: string): number {
  return text.match(/[\p{L}\p{N}][\p{L}\p{N}'’-]*/gu)?.length ?? 0;
}
