export function donePattern(source: string): RegExp {
  return new RegExp(source, "m");
}
export function saysDone(text: string, pattern: RegExp, prompt: string): boolean {
  return pattern.test(text) && prompt !== text;
}
