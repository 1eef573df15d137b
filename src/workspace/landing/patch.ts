interface Line {
  sign: "+" | "-";
  line: string;
  /** The line without what indentation and line ends do to it. */
  key: string;
}

export interface Hunk {
  file: string;
  lines: Line[];
}

/** Plumbing: no setting of the user's has a say. */
export const PATCH = [
  ...["-r", "-p", "-U0", "--root", "--no-renames", "--full-index"],
  ...["--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/"],
];

/** Reads a patch without context. A binary file counts as one line, and so does a mode that is not the usual one. */
export function hunksOf(patch: string): Hunk[] {
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
