/** Words that stand before what an agent has to say of its failure. */
const PREFIX =
  /^(?:exit code \d+: |killed by \w+: |stream error: |stream disconnected before completion: |\[?api error:?\s*|\w*error:\s*|✗\s*|⚠️?\s*)/i;
/** What may follow, so that a sentence about limits is none. */
const END = String.raw`(?=$|\s*[|·∙•.,:;(\n—–-]|\s+(?:for|on|until|and|please|resets?|try)\b)`;

const OWN = `(?:you['’]ve|you have|you)`;
const MESSAGES = [
  new RegExp(
    String.raw`^${OWN} (?:hit|reached|exceeded|used up) your (?:[\w'’-]+ ){0,4}(?:limit|quota)${END}`,
    "i",
  ),
  /^(?:you['’]ve|you have|you) exhausted your (?:[\w-]+ ){0,2}(?:quota|capacity|limit)\b/i,
  new RegExp(
    `^(?:(?:the|your|claude|ai|codex|gemini|amp|opus|sonnet|haiku|free|max|pro|team|plus|plan|usage|rate|request|token|message|session|hourly|weekly|daily|monthly|5-hour|five-hour) ){1,4}limit (?:has been |was |is )?(?:reached|exceeded|hit)${END}`,
    "i",
  ),
  new RegExp(`^quota (?:limit )?exceeded${END}`, "i"),
  /^exceeded retry limit, last status: 429\b/i,
  /^(?:request rejected \(429\)|(?:http |status:? |status code:? )?\(?429(?: too many requests| status code| \{|:|$))/i,
  /^limit reached\s*(?:[|·∙•]|resets\b)/i,
  new RegExp(`^(?:you(?:['’]re| are) (?:being )?)?rate[- ]limited${END}`, "i"),
  /^(?:this )?request would exceed (?:your|the) (?:[\w'’-]+ ){0,3}rate limit\b/i,
  /^too many requests\s*(?:$|[.,(|·])/i,
  /^(?:error code:?|request failed with status(?: code)?) 429\b/i,
  /^(?:unexpected status|got status:?) (?:429|RESOURCE_EXHAUSTED)\b/i,
  new RegExp(`^resource (?:has been )?exhausted${END}`, "i"),
  new RegExp(`^you(?:['’]re| are) out of (?:[\\w-]+ ){0,2}(?:usage|credits)${END}`, "i"),
  /^attempt \d+ failed with status 429\b/i,
];

/** The words for it in what a service answers as JSON. */
const CODES =
  /"(?:type|code|status)"\s*:\s*(?:"(?:rate_limit_error|rate_limit_exceeded|usage_limit_reached|insufficient_quota|RESOURCE_EXHAUSTED)"|429\b)/;

const MAX_CHARS = 2000;

/**
 * Whether an agent's own error text says that a usage limit is reached. The text has to begin with it: one that
 * merely speaks of limits does not.
 */
export function tellsOfLimit(text: string): boolean {
  const message = withoutPrefix(text.trim().slice(0, MAX_CHARS));
  if (MESSAGES.some((pattern) => pattern.test(message))) return true;
  return /^(?:\d{3} )?[[{]/.test(message) && CODES.test(message);
}

function withoutPrefix(text: string): string {
  const rest = text.replace(PREFIX, "");
  return rest === text ? text : withoutPrefix(rest);
}
