import { z } from "zod";
import { RalphError } from "../errors.js";
import { nearest } from "../words.js";
import {
  deepMerge,
  inTodaysWords,
  isTree,
  type JsonTree,
  nullsIn,
  type SettingsFile,
  valueAt,
  withoutNulls,
} from "./merge.js";
import { Settings, WrittenSettings } from "./schema.js";

type Path = PropertyKey[];

/** The merged settings, or an error that names the file, the key and what was expected there. */
export function validate(given: SettingsFile[]): { settings: Settings; files: SettingsFile[] } {
  const notObject = given.find(({ content }) => !isTree(content));
  if (notObject !== undefined)
    throw invalid(`${notObject.name}: the file has ${JSON.stringify(notObject.content)}: expected an object`);
  const files = given.map(inTodaysWords);
  const all = files.reduce<unknown>((below, { content }) => deepMerge(below, content), {});
  for (const { content } of files) nullsIn(content as JsonTree).forEach(requireKey);
  const merged = withoutNulls(all as JsonTree);
  const { data, error } = Settings.safeParse(merged);
  if (data !== undefined) return { settings: data, files };
  throw invalid(error.issues.flatMap((issue) => problemsOf(issue, merged, files)).join("; "));
}

function invalid(problems: string): RalphError {
  return new RalphError(problems, { code: "settings_invalid" });
}

export function jsonSchema(): unknown {
  return { title: "Settings of ralph", ...z.toJSONSchema(WrittenSettings, { io: "input" }) };
}

function problemsOf(issue: z.core.$ZodIssue, merged: unknown, files: SettingsFile[]): string[] {
  const { path } = issue;
  if (issue.code !== "unrecognized_keys") {
    const file = fileWith(path, files);
    const found = valueAt(merged, path);
    const isSecret = path.some((key) => SECRET_KEYS.includes(key));
    const shown = isSecret ? `a value of the wrong kind (${typeof found})` : JSON.stringify(found);
    const what = found === undefined ? "is missing" : `has ${shown}`;
    return [`${file?.name}: ${written(path, file)} ${what}: ${expectation(issue)}`];
  }
  return issue.keys.map((key) => {
    const unknown = [...path, key];
    const file = fileWith(unknown, files);
    const meant = meantBy(key, path, keysAt(path));
    return `${file?.name}: ${unknownWords(written(unknown, file), meant)}`;
  });
}

/** Values of variables are most often secrets, and anybody who knows the address of a webhook can use it. */
const SECRET_KEYS: PropertyKey[] = ["env", "webhook"];

function expectation(issue: z.core.$ZodIssue): string {
  // Words of the schema itself say it best.
  if (issue.message.startsWith("expected ")) return issue.message;
  if (issue.code === "too_small" && issue.origin === "string") return "expected text";
  if (issue.code === "too_small") return `expected at least ${issue.minimum}`;
  if (issue.code === "too_big") return `expected at most ${issue.maximum}`;
  return issue.message
    .replace(/^Invalid (input|option): /, "")
    .replace(/, received .*$/, "")
    .replace(/^expected (?=string|number|boolean)/, "expected a ")
    .replace(/^expected (?=array|object)/, "expected an ")
    .replace(/boolean$/, "boolean: true or false");
}

/** The top file with a value there, or nearest to it. A list is taken as a whole from one file. */
function fileWith(path: Path, files: SettingsFile[]): SettingsFile | undefined {
  const list = path.findIndex((key) => typeof key === "number");
  for (let length = list === -1 ? path.length : list; length > 0; length -= 1) {
    const owner = files.findLast(({ content }) => valueAt(content, path.slice(0, length)) !== undefined);
    if (owner !== undefined) return owner;
  }
  return files[0];
}

/** A key with dots, as its file writes it. */
function written([top = "", ...path]: Path, file: SettingsFile | undefined): string {
  const older = new Map(Object.entries(file?.older ?? {}));
  return [older.get(String(top)) ?? top, ...path].map(String).join(".");
}

interface SchemaNode {
  properties?: Record<string, SchemaNode>;
  items?: SchemaNode;
  additionalProperties?: SchemaNode | false;
}

function keysAt(path: Path): string[] {
  return Object.keys(nodeAt(path)?.properties ?? {});
}

/** undefined: there is no such key. */
function nodeAt(path: Path): SchemaNode | undefined {
  return path.reduce<SchemaNode | undefined>(
    (node, key) => {
      if (node?.items !== undefined) return node.items;
      const own = new Map(Object.entries(node?.properties ?? {})).get(String(key));
      return own ?? (node?.additionalProperties || undefined);
    },
    z.toJSONSchema(Settings, { io: "input" }) as SchemaNode,
  );
}

/** Throws where there is no such key, with the one that is meant. */
export function requireKey(path: string[]): void {
  const at = path.findIndex((_, index) => nodeAt(path.slice(0, index + 1)) === undefined);
  if (at === -1) return;
  const above = path.slice(0, at);
  const meant = meantBy(path[at] as string, above, keysAt(above));
  throw invalid(unknownWords(path.slice(0, at + 1).join("."), meant));
}

function unknownWords(key: string, meant: string | undefined): string {
  return `unknown key "${key}" (${meant === undefined ? "ralph config --schema lists the keys" : `did you mean "${meant}"?`})`;
}

/** Keys by what people write for them, in small letters and without `_` and `-`. */
const TOP: Record<string, string> = {
  maxCost: "maxcostusd budget budgetusd maxbudget costlimit cost maxusd maxspend spendlimit",
  maxTime: "timeout timelimit maxduration maxruntime duration runtime maxminutes maxseconds time",
  maxIterations: "iterations iterationlimit maxiters loops maxloops maxturns maxsteps rounds",
  checks: "check verify verifycommand verifycommands verification test tests testcommand lint validate gates",
  setup: "install bootstrap prepare setupcommand installcommand dependencies",
  "agent.command": "command agentcommand cli program provider",
  "agent.model": "model",
  "agent.flags": "flags args agentflags agentargs",
  "agent.env": "env environment variables",
  "agent.permissions": "permissions permission permissionmode",
  "agent.background": "background keepbackground",
  scm: "git commit autocommit vcs commits",
  completionResponse: "done completion promise completionpromise response",
  "loop.completion_tag": "completiontag tag",
  "loop.fallback_agents": "fallback fallbackagent fallbackagents",
  "loop.escalate_model": "escalate escalatemodel",
  "checkOptions.parallel": "parallel concurrency jobs",
  "checkOptions.failFast": "failfast bail",
  "review.agent": "reviewer reviewagent revieweragent",
  "review.cap": "reviewcap maxreviews",
  "notify.webhook": "webhook slack",
  notify: "notifications notification",
  protect: "protected protectedfiles readonly",
  "sandbox.network.allow": "network hosts allowedhosts",
};

const CHECK: Record<string, string> = {
  name: "title label id",
  command: "cmd run script shell exec",
  failAction: "onfail action onfailure",
  hint: "message help advice",
  timeout: "timelimit maxtime limit",
  inputs: "files paths globs patterns sources",
};

const AGENT: Record<string, string> = {
  command: "name program cli binary path",
  flags: "args arguments options",
  env: "environment variables",
};

const SECTIONS: Record<string, Record<string, string>> = {
  "": TOP,
  checks: CHECK,
  agent: AGENT,
  agents: AGENT,
};

/** The key that was meant, by its meaning, else by its letters. `known` are the keys that may stand there. */
function meantBy(key: string, [section = ""]: PropertyKey[], known: string[]): string | undefined {
  const plain = key.toLowerCase().replace(/[_-]/g, "");
  const same = known.find((name) => name.toLowerCase().replace(/[_-]/g, "") === plain);
  const words = Object.entries(SECTIONS[String(section)] ?? {});
  return same ?? words.find(([, written]) => written.split(" ").includes(plain))?.[0] ?? nearest(key, known);
}
