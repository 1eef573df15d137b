import { readFileSync } from "node:fs";

export function version(): string {
  return manifest().version;
}

/** The releases of Node that ralph runs on, such as `>=20.19`. */
export function nodeRange(): string {
  return manifest().engines.node;
}

function manifest(): { version: string; engines: { node: string } } {
  return JSON.parse(readFileSync(`${__dirname}/../package.json`, "utf8")) as ReturnType<typeof manifest>;
}
