import { fileURLToPath } from "node:url";
import { orElse } from "../errors.js";
import type { Site } from "./allowed-commands.js";
import { shown } from "./call.js";
import { type GuardFinding, type GuardVerdict, type Risk, refuse, unjudged, verdictOf } from "./finding.js";
import { judgeCommand, judgeWords } from "./guard.js";
import { forgetLinks, resolvePath } from "./paths.js";
import { protection } from "./protected.js";
import { secretIssue } from "./secrets.js";
import { list } from "./text.js";

/** A tool call, as agents announce it. */
export interface ToolUse {
  tool: string;
  input: Record<string, unknown>;
}

/** Judges a tool call. Tools that neither run, write nor read pass. */
export function judgeToolUse({ tool, input }: ToolUse, around: Site): GuardVerdict {
  try {
    forgetLinks();
    const site = siteOf(input, around);
    const name = tool.toLowerCase();
    const isWriting = WRITES.some((verb) => name.includes(verb));
    const judge = isWriting ? protection : secretIssue;
    return verdictOf([
      ...ranBy({ tool, input }, site),
      ...findingsOf(patchedPaths(input), tool, (path) => protection(path, { cwd: site.cwd, site })),
      ...findingsOf(pathsIn(input), tool, (path) => judge(path, { cwd: site.cwd, site })),
    ]);
  } catch (error) {
    return verdictOf([unjudged(error, tool)]);
  }
}

/** Codex sends the folder of a command with it. */
function siteOf(input: Record<string, unknown>, site: Site): Site {
  const folder = [input["workdir"], input["cwd"]].find((value) => typeof value === "string" && value !== "");
  if (typeof folder !== "string") return site;
  return { ...site, cwd: resolvePath(folder, { cwd: site.cwd, site }) };
}

const WRITES = list(
  "write edit create delete remove move rename patch replace insert append save mkdir upload copy",
);
const PATH_NAMES = list(`
  file_path notebook_path path filePath absolute_path destination source target_file new_path old_path
  dir_path file filename uri files paths
`);

function pathsIn(input: Record<string, unknown>): string[] {
  return PATH_NAMES.flatMap((name) => pathsOf(input[name]));
}

/** One path, or several, each perhaps with more data. */
function pathsOf(value: unknown): string[] {
  if (typeof value === "string") return [pathOf(value)];
  if (Array.isArray(value)) return value.flatMap(pathsOf);
  return typeof value === "object" && value !== null ? pathsIn({ ...value }) : [];
}

function pathOf(text: string): string {
  if (!text.startsWith("file:")) return text;
  return orElse(() => fileURLToPath(text), text.replace(/^file:(\/\/)?/, ""));
}

function findingsOf(
  paths: string[],
  tool: string,
  judge: (path: string) => Risk | undefined,
): GuardFinding[] {
  return paths.flatMap((path) => {
    const issue = judge(path);
    return issue === undefined ? [] : [{ ...issue, command: shown([tool, path]) }];
  });
}

const COMMAND_NAMES = list("command cmd script argv");

/** Shells of agents: a text, or the words of a program, also one level deeper. */
function ranBy({ tool, input }: ToolUse, site: Site): GuardFinding[] {
  const action = input["action"];
  const inside = typeof action === "object" && action !== null ? { ...action } : {};
  const values = [input, inside as ToolUse["input"]].flatMap((given) =>
    COMMAND_NAMES.map((name) => given[name]),
  );
  const verdicts = values
    .filter((value) => !isPatch(value, tool))
    .map((value) => judgeValue(value, tool, site));
  const worst =
    verdicts.find(({ allowed }) => !allowed) ?? verdicts.find(({ warnings }) => warnings.length > 0);
  return worst === undefined ? [] : [...worst.refusals, ...worst.warnings];
}

function judgeValue(value: unknown, tool: string, site: Site): GuardVerdict {
  if (typeof value === "string") return judgeCommand(value, site);
  if (isWords(value)) return judgeWords(value, site);
  const issue = refuse("obfuscation", "its command is neither a text nor words");
  return verdictOf(typeof value === "object" && value !== null ? [{ ...issue, command: tool }] : []);
}

/** Codex sends patches in place of a command; only its own tool accepts them. */
function isPatch(value: unknown, tool: string): boolean {
  if (isWords(value)) return value.length === 2 && value[0] === "apply_patch";
  return tool === "apply_patch" && typeof value === "string" && /^\s*\*\*\* Begin Patch/.test(value);
}

function isWords(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((word) => typeof word === "string");
}

const HEADER = /^[^\S\n]*\*\*\*[^\S\n]*(?:Add File|Update File|Delete File|Move to):[^\S\n]*(\S.*)$/gm;

/** The files that a patch in the form of Codex changes. */
function patchedPaths(input: ToolUse["input"]): string[] {
  const texts = Object.values(input).flatMap((value) => (isWords(value) ? value : [value]));
  const patches = texts.filter((text) => typeof text === "string" && text.includes("*** Begin Patch"));
  return patches.flatMap((patch) => [...String(patch).matchAll(HEADER)].map(([, path = ""]) => path.trim()));
}
