import { stripVTControlCharacters } from "node:util";

/** What agents themselves say about a usage limit, or a missing login. */

const MAX_CHARS = 2000;

/** The beginning of a text, without colours and without words that precede the ones that count. */
function plain(text: string, prefix: RegExp): string {
  return stripVTControlCharacters(text.slice(0, MAX_CHARS)).trim().replace(prefix, "");
}

/** Words that may precede an agent's own report of a failure; the exceptions of a test are not its own. */
const BEFORE_LIMIT =
  /^(?:exit code \d+: |killed by \w+: |stream error: |stream disconnected before completion: |failed after \d+ attempts\. last error: |\[?api error:?\s*\(?|4\d\d[: ]+(?=(?:you|quota|resource)\b)|(?!\w*(?:assert|expect|comparison|test))\w*(?:error|exception):\s*|[✗✖❌⛔⚡⚠]️?\s*)+/i;
/** What may follow; a sentence about limits continues in another way. */
const END = String.raw`(?=$|\s*[|·∙•.,:;(\n—–-]|\s+(?:for|on|until|and|please|resets?|try)\b)`;
/** What follows, for words so short that programmers use them often. */
const WHEN = String.raw`\s*[.,:;(|·∙•—–-]*\s*(?:$|\d|please\b|try again\b|retry (?:in|after)\b|wait\b|resets?\b)`;

const ANY_WORDS = String.raw`(?:[\w.'’-]+ ){0,4}`;
/** Limits on something other than a plan: the model, the machine, or how it was called. */
const OTHERS =
  "context|window|tokens?|turns?|steps?|iterations?|retry|retries|attempts?|disk|storage|files?|memory|heap|stack|output|input|length|size|depth|characters?";
const WORDS = String.raw`(?:(?:hourly|daily|weekly|monthly) tokens? |(?!(?:${OTHERS})\b)[\w.'’-]+ ){0,4}`;
const VAGUE = "the|your|max|plan";
const KINDS =
  "claude|ai|api|github|openai|anthropic|requests?|secondary|codex|gemini|amp|opus|sonnet|haiku|free|pro|plus|team|extra|usage|rate|session|hourly|weekly|daily|monthly|5-hour|five-hour";
const OWNERS = "account|organization|plan|team|workspace";
const YOU = "(?:you['’]ve|you have|you)";

const CODE = "rate_limit_error|rate_limit_exceeded|usage_limit_reached|insufficient_quota|RESOURCE_EXHAUSTED";

const LIMITS = [
  `${YOU} (?:hit|reached|exceeded|used up) your ${WORDS}(?:limits?|quotas?|cap)${END}`,
  `${YOU} (?:hit|reached|exceeded) (?:the|your) ${ANY_WORDS}rate limits?${END}`,
  `${YOU} (?:hit|reached|exceeded) the ${WORDS}(?:limit|quota) (?:for|of) your (?:${OWNERS})${END}`,
  `${YOU} exhausted your ${WORDS}(?:quota|capacity|limit)\\b`,
  `(?:(?:${VAGUE}) ){0,2}(?:${KINDS}) (?:(?:${VAGUE}|${KINDS}) ){0,3}limit (?:(?:has been|was|is) )?(?:reached|exceeded|hit)${END}`,
  String.raw`limit reached\s*(?:[|·∙•]\s*)?resets?\b`,
  `(?:(?:individual|daily|monthly|weekly) )?quota (?:limit )?(?:exceeded|reached)${END}`,
  String.raw`resource (?:has been )?exhausted(?=$|\s*[|·.,;(\n]|:? *(?:quota|too many|rate limit|please|try again)\b)`,
  String.raw`(?:you(?:['’]re| are)|your (?:${OWNERS}) is) out of (?:[\w-]+ ){0,2}(?:usage|credits)${END}`,
  String.raw`you(?:['’]re| (?:are|were|have been)) (?:being )?rate[- ]limited\s*(?:$|[.,;(·])`,
  `rate[- ]limited${WHEN}`,
  `(?:this request would exceed|number of ${ANY_WORDS}tokens has exceeded) (?:the|your) ${ANY_WORDS}rate limit${END}`,
  String.raw`too many (?:requests|tokens)\s*(?:$|[.(|·]|[,:;]? (?:please|retry|try again|wait)\b)`,
  String.raw`(?:exceeded retry limit, last status:|unexpected status|got status:?|attempt \d+ failed with status) (?:429|RESOURCE_EXHAUSTED)\b`,
  String.raw`(?:request rejected \(|request failed with status(?: code)?:? )429\s*(?:$|[.({:)])`,
  String.raw`(?:http(?:/[\d.]+)? |status:? |(?:status|error) code:? )?429(?:$|[: ]*(?:too many requests|status code|rate[ _]limit(?:_error|_exceeded)?\b|- [{[]|[{[]))`,
  String.raw`(?:${CODE})\s*$`,
].map((pattern) => new RegExp(`^${pattern}`, "i"));

/** The codes for it in a service's JSON answer. */
const CODES = new RegExp(String.raw`"(?:type|code|status)"\s*:\s*(?:"(?:${CODE})"|429\b)`);

/** Whether an agent's own error text reports a usage limit: it begins with that, not merely mentions it. */
export function tellsOfLimit(text: string): boolean {
  const message = plain(text, BEFORE_LIMIT);
  const saysSo = (words: string): boolean => LIMITS.some((pattern) => pattern.test(words));
  if (saysSo(message)) return true;
  if (!/^(?:\d{3} )?[[{]/.test(message)) return false;
  const [, inside = ""] = /"message"\s*:\s*"([^"\\]*)/.exec(message) ?? [];
  return CODES.test(message) || saysSo(inside);
}

const KEY =
  "(?:api[- _]?keys?|x-api-key|(?:bearer|oauth|access|refresh|auth(?:entication)?) tokens?|credentials?)";
const BAD = "(?:invalid|incorrect|wrong|bad|missing|expired|revoked|no)";
const IS_BAD =
  "(?:(?:is|was|has|has been|could) )?(?:(?:not|been) )?(?:be )?(?:valid|invalid|missing|found|set|expired|revoked|required|provided|refreshed|disabled)";

/** Programs that a tool may call, which have a login of their own. */
const OTHERS_LOGIN = "(?!(?:gh|glab|git|docker|npm|az|aws|gcloud|fly|heroku|vercel)\\b)";
const RUN_LOGIN = String.raw`run [\`'"]?${OTHERS_LOGIN}[\w-]+ (?:auth )?login\b`;

/** How the known agents and their services say that nobody is signed in. */
const LOGINS = [
  String.raw`(?:you(?:['’]re| are) )?not (?:(?:logged|signed) in|authenticated)\b`,
  String.raw`(?:please |you (?:must|need to|have to) )?(?:(?:log|sign) in|authenticate)\b`,
  String.raw`(?:[\w-]+ ){0,3}(?:login|sign-in) (?:is )?required\b`,
  String.raw`(?:the |your )?${BAD} (?:[\w.'’-]+ ){0,3}${KEY}\b`,
  String.raw`(?:the |your )?(?:[\w.-]+ ){0,3}${KEY} ${IS_BAD}\b`,
  String.raw`(?:(?:the |your )?session|authentication) (?:has )?(?:failed|required|error|expired|is required)\b`,
  String.raw`(?:failed|unable) to (?:authenticate|refresh (?:the )?token)\b`,
  String.raw`no (?:auth|authentication|login|account) (?:[\w-]+ ){0,2}(?:found|configured|set)\b`,
  String.raw`(?:missing bearer|unauthorized|unauthenticated|please set an auth method)\b`,
  String.raw`(?:unexpected status |http(?:/[\d.]+)? |status:? |(?:status|error) code:? )?401\b(?! tests?\b)`,
  String.raw`when using [\w ]{1,20}, you must specify the \w+ environment variable`,
  String.raw`missing environment variable:? .?\w*(?:KEY|TOKEN)\b`,
].map((pattern) => new RegExp(`^${pattern}`, "i"));
/** Words that mean nothing else, anywhere in an agent's own error. */
const SURE = new RegExp(
  [
    String.raw`please run /login|\b(?:log|sign) ?in again\b|\b${RUN_LOGIN}|\blast status: 401\b`,
    String.raw`\b\w+_API_KEY is (?:missing|not set)\b|invalid x-api-key|api key not valid|incorrect api key`,
    String.raw`\b(?:authentication_error|invalid_api_key|API_KEY_INVALID|UNAUTHENTICATED)\b`,
    String.raw`\b(?:FatalAuthenticationError|ProviderAuthError|LoadAPIKeyError)\b`,
  ].join("|"),
  "i",
);
/** Most texts contain none of these. */
const NEAR = /log|sign|auth|key|token|credential|session|401/i;

const BEFORE_LOGIN = /^(?:\[?api error:?\s*\(?|\w*(?:error|exception):?\s+|[✗✖❌⛔⚡⚠■]️?\s*)+/i;

export function tellsOfLogin(text: string): boolean {
  // A server of tools has a login of its own.
  if (!NEAR.test(text.slice(0, MAX_CHARS)) || /\bMCP\b/.test(text)) return false;
  const message = plain(text, BEFORE_LOGIN);
  return SURE.test(message) || LOGINS.some((pattern) => pattern.test(message));
}
