const RESPONSE = /<response>([\s\S]*?)<\/response>/i;

/** What stands in the first `<response>` tag, trimmed. */
export function responseIn(message: string): string | undefined {
  return RESPONSE.exec(message)?.[1]?.trim();
}

export function isCompletionResponse(message: string, expected: string): boolean {
  return responseIn(message)?.toLowerCase() === expected.trim().toLowerCase();
}

/** A line that speaks of the tag, in contrast to one that is the tag. */
const TALKS_OF_TAG = /\S\s*<response>|<\/response>\s*\S/i;

/** A plain command may print its prompt back, whole, quoted or in part: those words are not its own. */
export function withoutEcho(output: string, prompt: string): string {
  const echoed = linesOf(prompt.trim());
  const telling = echoed.filter((line) => TALKS_OF_TAG.test(line));
  const own = withoutBlock(output, echoed);
  return own.filter((line) => !telling.some((echo) => line.includes(echo))).join("\n");
}

/** The lines of the output that are not the prompt from its first line to its last. */
function withoutBlock(output: string, echoed: string[]): string[] {
  const lines = output.split("\n");
  const trimmed = linesOf(output);
  const own: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const isEcho = echoed.join("") !== "" && echoed.every((line, index) => line === trimmed[at + index]);
    if (!isEcho) own.push(lines[at] as string);
    at += isEcho ? echoed.length : 1;
  }
  return own;
}

function linesOf(text: string): string[] {
  return text.split("\n").map((line) => line.trim());
}
