/** What every agent has to know to end its turn: how to say that it is done, and how to ask a person. */

const HOW_TO_ASK =
  "If you cannot continue without a person, end your final message with <promise>BLOCKED: what you need</promise> on a line of its own. If a person has to decide something, end it with <promise>DECIDE: the question and the choices</promise>. The run then stops, and continues with the answer.";

/** A prompt that says it in its own way is left as it is. */
export function howToAsk(prompt: string): string[] {
  return /<promise>\s*(?:BLOCKED|DECIDE)/i.test(prompt) ? [] : [HOW_TO_ASK];
}

export function howToSayDone(words: string, hasChecks: boolean): string {
  const when = hasChecks ? " and the checks pass" : "";
  return `Only if the whole task is done${when}, end your final message with ${words} on a line of its own. If anything is left to do, do not write ${words}.`;
}
