import { isUnknown } from "../call.js";

/** Whether an address is this machine. */
export function isLocal(address: string): boolean {
  const host = hostOf(address);
  return /^(localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[?::1\]?|host\.docker\.internal|[\w-]+\.localhost)$/i.test(
    host,
  );
}

export function hostOf(address: string): string {
  const [, authority = ""] = /^(?:[a-z][\w+.-]*:\/\/)?([^/?#]*)/i.exec(address) ?? [];
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  return host.startsWith("[") ? host.slice(0, host.indexOf("]") + 1) : host.replace(/:[^:]*$/, "");
}

/** `user@host:path` and `host::module`, and not a file whose name has a colon after a slash. */
export function isRemotePath(word: string): boolean {
  if (/^(rsync|sftp|scp|ssh):\/\//.test(word)) return !isLocal(word);
  const [, host] = /^([^/:]+):/.exec(word) ?? [];
  if (host === undefined) return false;
  return isUnknown(host) || !isLocal(host.slice(host.lastIndexOf("@") + 1));
}
