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
  const echoed = prompt.trim();
  if (echoed === "") return output;
  return `\n${output}\n`.replaceAll(`\n${echoed}\n`, "\n").slice(1, -1);
}
