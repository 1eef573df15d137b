import { systemErrorCode } from "../../errors.js";
import type { Notice } from "./notice.js";

/**
 * Posts it. Resolves to why that failed, which never names the address: whoever knows that can post there,
 * too.
 */
export async function postNotice(
  address: string,
  notice: Notice,
  timeoutMs: number,
): Promise<string | undefined> {
  const url = new URL(address);
  const headers = { "content-type": "application/json", "user-agent": "ralph", ...authorization(url) };
  Object.assign(url, { username: "", password: "" });
  try {
    const body = JSON.stringify(notice);
    const signal = AbortSignal.timeout(timeoutMs);
    // A redirect would turn most posts into a question without a body.
    const response = await fetch(url, { method: "POST", headers, body, signal, redirect: "manual" });
    await response.body?.cancel();
    return response.ok ? undefined : `the server answered ${response.status}`;
  } catch (error) {
    return whyNot(error, timeoutMs);
  }
}

/** `https://user:password@host` is refused by `fetch` itself. */
function authorization({ username, password }: URL): Record<string, string> {
  if (username === "" && password === "") return {};
  const words = [username, password].map(decodeURIComponent).join(":");
  return { authorization: `Basic ${Buffer.from(words).toString("base64")}` };
}

function whyNot(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return "it failed";
  if (error.name === "TimeoutError") return `no answer within ${timeoutMs / 1000}s`;
  return `it could not be reached (${systemErrorCode(error.cause) ?? "no connection"})`;
}
