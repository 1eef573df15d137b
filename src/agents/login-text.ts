import { stripVTControlCharacters } from "node:util";

const KEY =
  "(?:api[- _]?keys?|x-api-key|(?:bearer|oauth|access|refresh|auth(?:entication)?) tokens?|credentials?)";
const BAD = "(?:invalid|incorrect|wrong|bad|missing|expired|revoked|no)";
const IS_BAD =
  "(?:(?:is|was|has|has been|could) )?(?:(?:not|been) )?(?:be )?(?:valid|invalid|missing|found|set|expired|revoked|required|provided|refreshed|disabled)";

/** How the known agents, and the services behind them, say that nobody is signed in. */
const MESSAGES = [
  String.raw`(?:you(?:['’]re| are) )?not (?:logged|signed) in\b`,
  String.raw`(?:please |you (?:must|need to|have to) )?(?:log|sign) in\b`,
  String.raw`(?:[\w-]+ ){0,3}(?:login|sign-in) (?:is )?required\b`,
  String.raw`please run /login\b`,
  String.raw`(?:please )?run [\`'"]?(?:claude|codex|amp|gemini|opencode) (?:auth )?login\b`,
  String.raw`(?:the |your )?${BAD} (?:[\w.'’-]+ ){0,3}${KEY}\b`,
  String.raw`(?:the |your )?(?:[\w.-]+ ){0,3}${KEY} ${IS_BAD}\b`,
  String.raw`(?:the |your )?session (?:has )?expired\b`,
  String.raw`authentication (?:failed|required|error)\b`,
  String.raw`failed to (?:authenticate|refresh (?:the )?token)\b`,
  String.raw`(?:unauthorized|unauthenticated)\b`,
  String.raw`(?:unexpected status |http(?:/[\d.]+)? |status:? |(?:status|error) code:? )?401\b(?! tests?\b)`,
  String.raw`please set an auth method\b`,
  String.raw`when using [\w ]{1,20}, you must specify the \w+ environment variable`,
  String.raw`missing environment variable:? .?\w*(?:KEY|TOKEN)\b`,
].map((pattern) => new RegExp(`^${pattern}`, "i"));

/** Words for it that nothing else is called by, wherever an agent's own error has them. */
const SURE =
  /please run \/login|\b(?:log|sign) ?in again\b|\brun [`'"]?(?:claude|codex|amp|gemini|opencode) (?:auth )?login\b|\blast status: 401\b|\b\w+_API_KEY is (?:missing|not set)\b|\bFatalAuthenticationError\b|invalid x-api-key|api key not valid|incorrect api key|\b(?:authentication_error|invalid_api_key|API_KEY_INVALID|UNAUTHENTICATED|ProviderAuthError|LoadAPIKeyError)\b/i;
/** Most texts have none of these. */
const NEAR = /log|sign|auth|key|token|credential|session|401/i;

const PREFIX = /^(?:\[?api error:?\s*\(?|\w*(?:error|exception):?\s+|[✗✖❌⛔⚡⚠■]️?\s*)/i;
const MAX_CHARS = 2000;

/** Whether an agent's own text says that its service does not let it in. */
export function tellsOfLogin(text: string): boolean {
  // A server of tools has a login of its own.
  if (!NEAR.test(text.slice(0, MAX_CHARS)) || /\bMCP\b/.test(text)) return false;
  const message = withoutPrefix(stripVTControlCharacters(text.slice(0, MAX_CHARS)).trim());
  return SURE.test(message) || MESSAGES.some((pattern) => pattern.test(message));
}

function withoutPrefix(text: string): string {
  const rest = text.replace(PREFIX, "");
  return rest === text ? text : withoutPrefix(rest);
}
