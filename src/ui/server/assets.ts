import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { inPackage } from "../../package-folder.cjs";

/** What comes with ralph for the browser: read once, and named by what it holds. */

const TYPES: Record<string, string> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".webmanifest": "application/manifest+json",
};

interface Asset {
  body: Buffer;
  gzip: Buffer | undefined;
  type: string;
  isHashed: boolean;
}

/** What a browser sees that was not let in yet. */
const NOTES = {
  locked:
    "This browser was not let in. Open the link that <code>ralph ui</code> printed, or start it again for a new one.",
  used: "This link was used already, or belongs to another server. Start <code>ralph ui</code> again for a new one.",
  wrong: "This is not the token. <a href='/enter'>Try again</a>",
} as const;

type PageName = keyof typeof NOTES | "app" | "welcome" | "token";

export function readAssets(folder = inPackage("dist/ui/page")) {
  const files = new Map<string, Asset>();
  for (const name of existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }) : []) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const body = readFileSync(join(folder, name));
    const gzip = /text|svg|json/.test(type) ? gzipSync(body) : undefined;
    files.set(`/${name}`, { body, gzip, type, isHashed: /-[\w-]{8}\.(?:js|css)$/.test(name) });
  }
  const named = (pattern: RegExp): string =>
    [...files.keys()].find((name) => pattern.test(name)) ?? "/missing";
  const [script, style] = [named(/^\/assets\/main-.*\.js$/), named(/^\/assets\/main-.*\.css$/)];
  const head = (more = ""): string => `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
  <meta name="color-scheme" content="light dark">
  <title>ralph</title>
  <link rel="icon" href="/icon.svg">
  <link rel="apple-touch-icon" href="/icon-192.png">
  <link rel="manifest" href="/manifest.webmanifest">
  <link rel="stylesheet" href="${style}">
  ${more}
</head>`;
  const note = (text: string): string =>
    `${head()}\n<body class="door"><main><h1>ralph</h1><p>${text}</p></main></body>\n</html>\n`;
  const texts: Record<Exclude<PageName, keyof typeof NOTES>, string> = {
    app: `${head(`<script type="module" src="${script}"></script>`)}\n<body><div id="app"></div></body>\n</html>\n`,
    welcome: `${head('<meta http-equiv="refresh" content="0; url=/">')}\n<body class="door"><main><h1>ralph</h1><p><a href="/">Open the dashboard</a></p></main></body>\n</html>\n`,
    token: note(
      `</p><form method="post" action="/enter"><label>Token <input name="token" type="password" autocomplete="current-password" required autofocus></label> <button>Enter</button></form><p>It is in the file that <code>--token-file</code> names.`,
    ),
  };
  return {
    page: (name: PageName): string =>
      name in NOTES ? note(NOTES[name as keyof typeof NOTES]) : texts[name as keyof typeof texts],
    file: (path: string): Asset | undefined => files.get(path),
    isBuilt: files.size > 0,
  };
}

export type Assets = ReturnType<typeof readAssets>;
