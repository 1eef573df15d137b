import { saidInTags, saysAlone } from "./said.js";

/** Whether a final message says that the work is done: by the tag itself, or as a promise. */
export function saysTag(message: string, tag: string): boolean {
  return saysPromise(message, tag) || saysAlone(message, tag);
}

export function saysPromise(message: string, tag: string): boolean {
  return saidInTags(message, "promise").includes(tag);
}
