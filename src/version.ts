import { readFileSync } from "node:fs";

export function version(): string {
  return manifest().version;
}

/** The releases of Node that ralph runs on, such as `>=20.19`. */
export function nodeRange(): string {
  return manifest().engines.node;
}

function manifest(): { version: string; engines: { node: string } } {
  const file = new URL("../package.json", import.meta.url);
  return JSON.parse(readFileSync(file, "utf8")) as ReturnType<typeof manifest>;
}
