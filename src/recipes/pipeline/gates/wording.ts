import type { Finding } from "./finding.js";
import type { Line } from "./markdown.js";

/** Words that two readers understand in two ways. */
const AMBIGUOUS =
  /\b(properly|correctly|appropriate(?:ly)?|adequate(?:ly)?|reasonabl[ey]|sufficient(?:ly)?|as (?:needed|required|necessary|appropriate)|if (?:needed|necessary|possible)|where (?:needed|possible)|and so on|and\/or|various|somehow|etc|tbd|todo|to be (?:defined|decided|determined))\b/i;

/** Qualities without a measure. */
const VAGUE =
  /\b(fast|faster|slow|quick(?:ly)?|eas(?:y|ier|ily)|simpl[ey]|intuitive(?:ly)?|user[- ]friendly|friendly|nice(?:ly)?|good|well|better|best|great|clean|modern|robust(?:ly)?|scalable|secure(?:ly)?|reliabl[ey]|efficient(?:ly)?|performant|responsive(?:ly)?|seamless(?:ly)?|smooth(?:ly)?|beautiful|pleasant|happy|happier|satisf(?:ied|ying|action)|delight(?:s|ed|ful)?|pleas(?:es|ed|ing)|impress(?:ed|ive)?|excit(?:ed|ing)|engag(?:ed|ing)|enjoy(?:s|able)?|lov(?:e|es|ely)|feels?|comfortabl[ey]|convenient(?:ly)?|elegant|powerful|high[- ]quality|flexible|usable|works?)\b/i;

/** Somebody could look and see it. */
const OBSERVABLE =
  /\b(return|store|save|show|display|print|exit|fail|reject|refuse|accept|create|delete|remove|add|list|send|receive|write|read|open|close|contain|hold|include|equal|match|log|raise|throw|redirect|respond|answer|keep|update|replace|sort|filter|find|load|render|export|import|count|start|stop|finish|end|complete|pass|call|ask|notify|report|record|produce|generate|give|get|set|take|use|run|change|stay|remain|survive|appear|disappear|succeed|block|lock|unlock|allow|deny|restore|retry|skip|ignore|warn|download|upload|copy|move|rename|parse|convert|calculate|compute|validate|verify|log in|sign|exist|play|pause|submit|reload|navigate|scroll|click|press|tap|select|toggle|expire|happen|occur|crash|persist|lead|point|arrive|fit|wrap|turn|become|match)(?:s|es|d|ed|ing|ned|ning|ped|ping|ten|tten)?\b|\b(?:has|have|sees?|seen|shown|kept|written|sent|found|read|held|given|set|put|gone|left|no|none|only|exactly|unique|empty|equal|same|null|true|false|ran|lost|can|cannot|must|visible|invisible|hidden|present|absent|available|unavailable|active|inactive|clickable|reachable|unreachable|online|offline|blank|focus|there (?:is|are)|(?:is|are) (?:not )?(?:there|on|off|in|at|above|below|under|next to|beside|behind|before|after|within|inside|outside|first|last|grey|gray|red|green|blue|black|white|bold|zero|valid|invalid|identical|different|sortable|readable|writable|executable))\b|\b\w{3,}ed\b/i;

/** `all` with a number, or with the place where they are listed, has an end. */
const UNBOUNDED =
  /(?<!\bat )\b(all|every(?:thing|body|one|where))\b(?!\s+(?:of\s+)?(?:the\s+|these\s+|those\s+)?(?:\d|two\b|three\b|four\b|five\b|six\b|seven\b|eight\b|nine\b|ten\b))/i;

const LISTED = /\b(listed|above|below|following|named in|in the table|in section)\b/i;

/** A figure, a code or a quotation says exactly what is meant. */
const MEASURE =
  /(?<!SC-|FR-|\d)\d|`[^`]+`|"[^"]+"|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|once|twice|hundred|half)\b/i;

export function ambiguityIn(text: string): string | undefined {
  const word = AMBIGUOUS.exec(text)?.[0];
  if (word !== undefined) return `"${word}" can be understood in several ways: say what is meant`;
  const unbounded = LISTED.test(text) ? undefined : UNBOUNDED.exec(text)?.[0];
  if (unbounded === undefined) return undefined;
  return `"${unbounded}" has no bounds: say which, or how many`;
}

function vagueWordIn(text: string): string | undefined {
  return VAGUE.exec(text)?.[0];
}

/** `SC-1`, `AC2:`, and the first column of a table: it counts criteria, and measures nothing. */
const NUMBER = /^\W*(?:SC-\d+\W*|[A-Z]{1,4}-?\d+(?:\.\d+)*\s?[:.)|]|\w{0,4}[-_ ]?\d+(?:\.\d+)*[.)]?\s?\|)/;

/** Why nothing could tell whether a criterion is met. */
export function whyUnmeasurable(text: string): string | undefined {
  const bare = text.replace(NUMBER, "");
  if (MEASURE.test(bare)) return undefined;
  const word = vagueWordIn(bare);
  if (word !== undefined) return `nothing could measure "${word}": give a figure, or say what can be seen`;
  if (OBSERVABLE.test(bare)) return undefined;
  return "nothing could measure this: give a figure, or say what can be seen when it is met";
}

/** The same word is told once. */
export function vagueWarnings(file: string, lines: Line[]): Finding[] {
  const seen = new Set<string>();
  return lines.flatMap(({ text, line }) => {
    const word = vagueWordIn(text)?.toLowerCase();
    if (word === undefined || seen.has(word)) return [];
    seen.add(word);
    return [{ file, line, level: "warning" as const, message: `"${word}" is vague: say how it is measured` }];
  });
}
