import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { RalphError } from "../../src/errors.js";
import { loadSettings } from "../../src/settings/load.js";
import { jsonSchema } from "../../src/settings/validate.js";
import { temporaryFolder } from "../kit.js";

interface Node {
  properties?: Record<string, Node>;
  items?: Node;
}

/** Every key that settings have, wherever it belongs. */
const KEYS = [...keysOf(jsonSchema() as Node), "__proto__", "constructor", "toString", "agnet"];

function keysOf({ properties = {}, items }: Node): string[] {
  const inner = [...Object.values(properties), ...(items ? [items] : [])].flatMap(keysOf);
  return [...new Set([...Object.keys(properties), ...inner])];
}

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<unknown>(null, true, 0, -1, 1e308, "", "claude", "90s", "\n", "[", []),
    fc.jsonValue({ maxDepth: 1 }),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie("value"), { maxKeys: 4 }),
  ),
}));
const settings = fc.dictionary(fc.constantFrom(...KEYS), value, { maxKeys: 4 });

/** Settings, or a mistake in one line; nothing else may come of it. */
async function outcome(folder: string, config?: string): Promise<string> {
  try {
    await loadSettings(folder, config);
    return "settings";
  } catch (error) {
    expect(error).toBeInstanceOf(RalphError);
    return (error as RalphError).message;
  }
}

test("settings of any kind in two files are taken, or told to be wrong in one of them", async () => {
  const folder = projectFolder();
  await fc.assert(
    fc.asyncProperty(settings, settings, async (base, local) => {
      writeFileSync(join(folder, ".ralph/settings.json"), JSON.stringify(base));
      writeFileSync(join(folder, ".ralph/settings.local.json"), JSON.stringify(local));
      expect(await outcome(folder)).toMatch(/^settings$|settings(\.local)?\.json: /);
    }),
    { numRuns: 60 },
  );
});

test.each(["settings.json", "settings.yaml"])(
  "any text in %s is taken, or told to be wrong",
  async (name) => {
    const folder = projectFolder();
    const piece = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      ":",
      ",",
      '"',
      "\n",
      " ",
      "-",
      "&a",
      "*a",
      "!!x",
      "agent",
      "<<",
      "|",
      "%",
      "\t",
    );
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 40 }),
      fc.array(piece, { maxLength: 20 }).map((all) => all.join("")),
    );
    await fc.assert(
      fc.asyncProperty(text, async (content) => {
        writeFileSync(join(folder, name), content);
        expect(await outcome(folder, name)).toMatch(/^settings$|settings\.(json|yaml)/);
      }),
      { numRuns: 80 },
    );
  },
);

function projectFolder(): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, ".ralph"));
  return folder;
}
