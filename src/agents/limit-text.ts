import { stripVTControlCharacters } from "node:util";

/** Words that stand before what an agent has to say of its failure. */
const PREFIX =
  /^(?:exit code \d+: |killed by \w+: |stream error: |stream disconnected before completion: |failed after \d+ attempts\. last error: |\[?api error:?\s*\(?|\w*(?:error|exception):\s*|[✗✖❌⛔⚡⚠]️?\s*)/i;
/** What may follow, so that a sentence about limits is none. */
const END = String.raw`(?=$|\s*[|·∙•.,:;(\n—–-]|\s+(?:for|on|until|and|please|resets?|try)\b)`;

const WORDS = String.raw`(?:[\w.'’-]+ ){0,4}`;
const KINDS =
  "the|your|claude|ai|codex|gemini|amp|opus|sonnet|haiku|free|pro|max|plus|team|plan|usage|rate|session|hourly|weekly|daily|monthly|5-hour|five-hour";
const OWNERS = "account|organization|plan|team|workspace";

const MESSAGES = [
  `(?:you['’]ve|you have|you) (?:hit|reached|exceeded|used up) your ${WORDS}(?:limit|quota|cap)${END}`,
  `(?:you['’]ve|you have|you) (?:hit|reached|exceeded) the ${WORDS}(?:limit|quota) (?:for|of) your (?:${OWNERS})${END}`,
  `(?:you['’]ve|you have|you) exhausted your ${WORDS}(?:quota|capacity|limit)\\b`,
  `(?:(?:${KINDS}) ){1,4}limit (?:(?:has been|was|is) )?(?:reached|exceeded|hit)${END}`,
  String.raw`limit reached\s*(?:[|·∙•]\s*)?resets?\b`,
  `(?:(?:individual|daily|monthly|weekly) )?quota (?:limit )?(?:exceeded|reached)${END}`,
  `resource (?:has been )?exhausted${END}`,
  String.raw`you(?:['’]re| are) out of (?:[\w-]+ ){0,2}(?:usage|credits)${END}`,
  `your (?:${OWNERS}) is out of (?:usage|credits)${END}`,
  String.raw`(?:you(?:['’]re| (?:are|were|have been)) (?:being )?)?rate[- ]limited\s*(?:$|[.,:;(·])`,
  `this request would exceed (?:the|your) ${WORDS}rate limit${END}`,
  `number of ${WORDS}tokens has exceeded your ${WORDS}rate limit${END}`,
  String.raw`too many (?:requests|tokens)\s*(?:$|[.(|·]|, please)`,
  String.raw`exceeded retry limit, last status: 429\b`,
  String.raw`request rejected \(429\)`,
  String.raw`request failed with status(?: code)?:? 429\s*(?:$|[.({:])`,
  String.raw`(?:unexpected status|got status:?) (?:429|RESOURCE_EXHAUSTED)\b`,
  String.raw`attempt \d+ failed with status 429\b`,
  String.raw`(?:http(?:/[\d.]+)? |status:? |(?:status|error) code:? )?429(?:$|[: ]*(?:too many requests|status code|rate limit|- [{[]|[{[]))`,
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
  if (MESSAGES.some((pattern) => pattern.test(message))) return true;
  return /^(?:\d{3} )?[[{]/.test(message) && CODES.test(message);
}

function withoutPrefix(text: string): string {
  const rest = text.replace(PREFIX, "");
  return rest === text ? text : withoutPrefix(rest);
}
