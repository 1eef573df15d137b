import { z } from "zod";
import { RalphError } from "../errors.js";
import { nearest } from "../nearest.js";
import { isTree, mergeFiles, type SettingsFile } from "./merge.js";
import { Settings } from "./schema.js";

type Path = PropertyKey[];

/** The merged settings, or an error that names the file, the key and what was expected there. */
export function validate(files: SettingsFile[]): Settings {
  const notObject = files.find(({ content }) => !isTree(content));
  if (notObject !== undefined) {
    const found = JSON.stringify(notObject.content);
    throw new RalphError(`${notObject.name}: the file has ${found}: expected object`, {
      code: "settings_invalid",
    });
  }
  const { data, error } = Settings.safeParse(mergeFiles(files));
  const merged = error?.issues.flatMap((issue) => describe(issue, files)) ?? [];
  const problems = new Set([...files.flatMap(ownProblems), ...merged]);
  if (data !== undefined && problems.size === 0) return data;
  throw new RalphError([...problems].join("; "), { code: "settings_invalid" });
}

/** A mistake in one file stays a mistake when another one covers it. What is missing may stand in the other. */
function ownProblems(file: SettingsFile): string[] {
  const issues = Settings.safeParse(file.content).error?.issues ?? [];
  const made = issues.filter(
    (issue) => issue.code === "unrecognized_keys" || at(file.content, issue.path) !== undefined,
  );
  return made.flatMap((issue) => describe(issue, [file]));
}

export function jsonSchema(): unknown {
  return { title: "Settings of ralph", ...z.toJSONSchema(Settings, { io: "input" }) };
}

function describe(issue: z.core.$ZodIssue, files: SettingsFile[]): string[] {
  if (issue.code !== "unrecognized_keys") {
    const what = foundAt(issue.path, mergeFiles(files));
    return [`${fileWith(issue.path, files)}: ${dotted(issue.path)} ${what}: ${expectation(issue)}`];
  }
  return issue.keys.map((key) => {
    const path = [...issue.path, key];
    const meant = nearest(key, keysAt(issue.path));
    const hint = meant === undefined ? "" : ` (did you mean "${meant}"?)`;
    return `${fileWith(path, files)}: unknown key "${dotted(path)}"${hint}`;
  });
}

/** Values of variables are most often secrets, and whoever knows the address of a webhook can use it. */
const SECRET_KEYS: PropertyKey[] = ["env", "webhook"];

function foundAt(path: Path, content: unknown): string {
  const found = at(content, path);
  if (found === undefined) return "is missing";
  return path.some((key) => SECRET_KEYS.includes(key))
    ? `has a value of the wrong kind (${typeof found})`
    : `has ${JSON.stringify(found)}`;
}

function expectation(issue: z.core.$ZodIssue): string {
  // Words of the schema itself say it best.
  if (issue.message.startsWith("expected ")) return issue.message;
  if (issue.code === "too_small" && issue.origin === "string") return "expected something in it";
  if (issue.code === "too_small")
    return `expected ${issue.inclusive ? "at least" : "more than"} ${issue.minimum}`;
  if (issue.code === "too_big") return `expected at most ${issue.maximum}`;
  return issue.message.replace(/^Invalid (input|option): /, "").replace(/, received .*$/, "");
}

/**
 * The top file that says something there, or else nearest to it: a mistake stands where the value comes
 * from. A list is taken as a whole from one file.
 */
function fileWith(path: Path, files: SettingsFile[]): string {
  const list = path.findIndex((key) => typeof key === "number");
  for (let length = list === -1 ? path.length : list; length > 0; length -= 1) {
    const owner = files.findLast(({ content }) => at(content, path.slice(0, length)) !== undefined);
    if (owner !== undefined) return owner.name;
  }
  return files[0]?.name ?? "settings";
}

function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (inner, key) => (isObject(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
    value,
  );
}

function isObject(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === "object" && value !== null;
}

function dotted(path: Path): string {
  return path.length === 0 ? "the file" : path.map(String).join(".");
}

interface SchemaNode {
  properties?: Record<string, SchemaNode>;
  items?: SchemaNode;
  additionalProperties?: SchemaNode | boolean;
}

let whole: SchemaNode | undefined;

function keysAt(path: Path): string[] {
  whole ??= jsonSchema() as SchemaNode;
  const node = path.reduce<SchemaNode>(below, whole);
  return Object.keys(node.properties ?? {});
}

function below({ properties, items, additionalProperties }: SchemaNode, key: PropertyKey): SchemaNode {
  if (typeof key === "number") return items ?? {};
  const open = typeof additionalProperties === "object" ? additionalProperties : {};
  return properties?.[String(key)] ?? open;
}
