const RESPONSE = /<response>([\s\S]*?)<\/response>/i;

/** What stands in the first `<response>` tag, trimmed. */
export function responseIn(message: string): string | undefined {
  return RESPONSE.exec(message)?.[1]?.trim();
}

export function isCompletionResponse(message: string, expected: string): boolean {
  return responseIn(message)?.toLowerCase() === expected.trim().toLowerCase();
}

/** A plain command may print its prompt back, as whole lines: those words are not its own. */
export function withoutEcho(output: string, prompt: string): string {
  const echoed = linesOf(prompt.trim());
  const lines = output.split("\n");
  const trimmed = linesOf(output);
  const own: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const isEcho = prompt.trim() !== "" && echoed.every((line, index) => line === trimmed[at + index]);
    if (!isEcho) own.push(lines[at] as string);
    at += isEcho ? echoed.length : 1;
  }
  return own.join("\n");
}

function linesOf(text: string): string[] {
  return text.split("\n").map((line) => line.trim());
}
