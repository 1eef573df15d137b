import { readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { javascriptTests } from "./javascript.js";
import { pythonTests } from "./python.js";
import { goTests, rustTests } from "./rust-and-go.js";
import type { TestBlock } from "./test-block.js";

type Language = "javascript" | "typescript" | "python" | "rust" | "go" | "other";

export interface TestFile {
  /** From the workspace on. */
  name: string;
  text: string;
  language: Language;
  tests: TestBlock[];
}

const LANGUAGES: Record<string, Language> = {
  ".js": "javascript",
  ".mjs": "javascript",
  ".cjs": "javascript",
  ".jsx": "typescript",
  ".ts": "typescript",
  ".mts": "typescript",
  ".cts": "typescript",
  ".tsx": "typescript",
  ".py": "python",
  ".rs": "rust",
  ".go": "go",
  ".rb": "other",
  ".java": "other",
  ".kt": "other",
  ".php": "other",
  ".sh": "other",
  ".bats": "other",
  ".c": "other",
  ".cc": "other",
  ".cpp": "other",
  ".cs": "other",
  ".ex": "other",
  ".exs": "other",
  ".swift": "other",
};

const READERS: Record<Language, (text: string) => TestBlock[]> = {
  javascript: javascriptTests,
  typescript: javascriptTests,
  python: pythonTests,
  rust: rustTests,
  go: goTests,
  other: () => [],
};

const FOLDERS = /(?:^|\/)(?:tests?|__tests__|specs?)\//;
const NAMES = /(?:^|[._-])(?:tests?|spec)(?:[._-]|$)|(?:Tests?|Spec)\.\w+$/;

/** Tests use it, and it has none of its own. */
const HELPER =
  /(?:^|\/)tests?[._-]?(?:utils?|helpers?|setup|fixtures?|common|support|mocks?|data|config|env|kit)(?:[._-]|$)/i;

/** Every file that holds tests, or looks as if it should. `below`: a folder or a file to look at alone. */
export function testFiles(workspace: string, below: string | undefined): TestFile[] {
  const names = below === undefined ? walk(workspace, "") : namesBelow(workspace, below.replace(/\/+$/, ""));
  return names.flatMap((name) => {
    const language = LANGUAGES[extname(name)];
    if (language === undefined) return [];
    const isNamed = isTestName(name);
    if (below === undefined && !looksLikeTests(name) && language !== "rust") return [];
    const text = readFileSync(join(workspace, name), "utf8");
    const tests = READERS[language](text);
    return tests.length > 0 || (isNamed && !HELPER.test(name)) ? [{ name, text, language, tests }] : [];
  });
}

export function looksLikeTests(name: string): boolean {
  return isTestName(name) || FOLDERS.test(name);
}

function isTestName(name: string): boolean {
  return NAMES.test(name.slice(name.lastIndexOf("/") + 1));
}

function namesBelow(workspace: string, below: string): string[] {
  const stat = statSync(join(workspace, below), { throwIfNoEntry: false });
  if (stat === undefined) return [];
  return stat.isDirectory() ? walk(workspace, below === "." ? "" : below) : [below];
}

const LEFT_OUT = new Set([
  "node_modules",
  "dist",
  "build",
  "target",
  "vendor",
  "venv",
  "__pycache__",
  "fixtures",
]);

function walk(workspace: string, folder: string): string[] {
  const entries = readdirSync(join(workspace, folder), { withFileTypes: true });
  const found = entries.flatMap((entry) => {
    const name = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (isLeftOut(entry.name)) return [];
    if (entry.isDirectory()) return walk(workspace, name);
    return entry.isFile() && extname(name) in LANGUAGES ? [name] : [];
  });
  return found.sort();
}

function isLeftOut(name: string): boolean {
  return name.startsWith(".") || LEFT_OUT.has(name);
}
