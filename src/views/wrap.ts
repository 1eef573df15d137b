/** Breaks between words. A word that is longer than a line stays whole, so that it can be copied. */
export function wrap(text: string, room = Number.POSITIVE_INFINITY): string[] {
  const lines: string[] = [];
  for (const word of text.trim().split(/\s+/)) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= room)
      lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}
