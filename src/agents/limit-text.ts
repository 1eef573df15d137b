import { stripVTControlCharacters } from "node:util";

/** Words that stand before what an agent has to say of its failure; the exceptions of a test are not its own. */
const PREFIX =
  /^(?:exit code \d+: |killed by \w+: |stream error: |stream disconnected before completion: |failed after \d+ attempts\. last error: |\[?api error:?\s*\(?|4\d\d[: ]+(?=(?:you|quota|resource)\b)|(?!\w*(?:assert|expect|comparison|test))\w*(?:error|exception):\s*|[✗✖❌⛔⚡⚠]️?\s*)/i;
/** What may follow, so that a sentence about limits is none. */
const END = String.raw`(?=$|\s*[|·∙•.,:;(\n—–-]|\s+(?:for|on|until|and|please|resets?|try)\b)`;
/** What follows where words as short as these are often those of a programmer. */
const WHEN = String.raw`\s*[.,:;(|·∙•—–-]*\s*(?:$|\d|please\b|try again\b|retry (?:in|after)\b|wait\b|resets?\b)`;

const ANY_WORDS = String.raw`(?:[\w.'’-]+ ){0,4}`;
/** What is limited by something else than a plan: the model, the machine, or how it was called. */
const OTHERS =
  "context|window|tokens?|turns?|steps?|iterations?|retry|retries|attempts?|disk|storage|files?|memory|heap|stack|output|input|length|size|depth|characters?";
const WORDS = String.raw`(?:(?:hourly|daily|weekly|monthly) tokens? |(?!(?:${OTHERS})\b)[\w.'’-]+ ){0,4}`;
const VAGUE = "the|your|max|plan";
const KINDS =
  "claude|ai|api|github|openai|anthropic|requests?|secondary|codex|gemini|amp|opus|sonnet|haiku|free|pro|plus|team|extra|usage|rate|session|hourly|weekly|daily|monthly|5-hour|five-hour";
const OWNERS = "account|organization|plan|team|workspace";
const YOU = "(?:you['’]ve|you have|you)";

const MESSAGES = [
  `${YOU} (?:hit|reached|exceeded|used up) your ${WORDS}(?:limits?|quotas?|cap)${END}`,
  `${YOU} (?:hit|reached|exceeded) (?:the|your) ${ANY_WORDS}rate limits?${END}`,
  `${YOU} (?:hit|reached|exceeded) the ${WORDS}(?:limit|quota) (?:for|of) your (?:${OWNERS})${END}`,
  `${YOU} exhausted your ${WORDS}(?:quota|capacity|limit)\\b`,
  `(?:(?:${VAGUE}) ){0,2}(?:${KINDS}) (?:(?:${VAGUE}|${KINDS}) ){0,3}limit (?:(?:has been|was|is) )?(?:reached|exceeded|hit)${END}`,
  String.raw`limit reached\s*(?:[|·∙•]\s*)?resets?\b`,
  `(?:(?:individual|daily|monthly|weekly) )?quota (?:limit )?(?:exceeded|reached)${END}`,
  String.raw`resource (?:has been )?exhausted(?=$|\s*[|·.,;(\n]|:? *(?:quota|too many|rate limit|please|try again)\b)`,
  String.raw`you(?:['’]re| are) out of (?:[\w-]+ ){0,2}(?:usage|credits)${END}`,
  `your (?:${OWNERS}) is out of (?:usage|credits)${END}`,
  String.raw`you(?:['’]re| (?:are|were|have been)) (?:being )?rate[- ]limited\s*(?:$|[.,;(·])`,
  `rate[- ]limited${WHEN}`,
  `this request would exceed (?:the|your) ${ANY_WORDS}rate limit${END}`,
  `number of ${ANY_WORDS}tokens has exceeded your ${ANY_WORDS}rate limit${END}`,
  String.raw`too many (?:requests|tokens)\s*(?:$|[.(|·]|[,:;]? (?:please|retry|try again|wait)\b)`,
  String.raw`exceeded retry limit, last status: 429\b`,
  String.raw`request rejected \(429\)`,
  String.raw`request failed with status(?: code)?:? 429\s*(?:$|[.({:])`,
  String.raw`(?:unexpected status|got status:?) (?:429|RESOURCE_EXHAUSTED)\b`,
  String.raw`attempt \d+ failed with status 429\b`,
  String.raw`(?:http(?:/[\d.]+)? |status:? |(?:status|error) code:? )?429(?:$|[: ]*(?:too many requests|status code|rate[ _]limit(?:_error|_exceeded)?\b|- [{[]|[{[]))`,
  String.raw`(?:rate_limit_error|rate_limit_exceeded|usage_limit_reached|insufficient_quota|RESOURCE_EXHAUSTED)\s*$`,
].map((pattern) => new RegExp(`^${pattern}`, "i"));

/** The words for it in what a service answers as JSON. */
const CODES =
  /"(?:type|code|status)"\s*:\s*(?:"(?:rate_limit_error|rate_limit_exceeded|usage_limit_reached|insufficient_quota|RESOURCE_EXHAUSTED)"|429\b)/;

const MAX_CHARS = 2000;

/**
 * Whether an agent's own error text says that a usage limit is reached. The text has to begin with it: one that
 * merely speaks of limits does not.
 */
export function tellsOfLimit(text: string): boolean {
  const message = withoutPrefix(stripVTControlCharacters(text.slice(0, MAX_CHARS)).trim());
  if (saysSo(message)) return true;
  if (!/^(?:\d{3} )?[[{]/.test(message)) return false;
  const [, inside = ""] = /"message"\s*:\s*"([^"\\]*)/.exec(message) ?? [];
  return CODES.test(message) || saysSo(inside);
}

function saysSo(message: string): boolean {
  return MESSAGES.some((pattern) => pattern.test(message));
}

function withoutPrefix(text: string): string {
  const rest = text.replace(PREFIX, "");
  return rest === text ? text : withoutPrefix(rest);
}
