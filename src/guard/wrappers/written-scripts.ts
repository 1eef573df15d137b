import { plainArgs, valuesOf } from "../args.js";
import type { Call } from "../call.js";
import { list } from "../list.js";
import { contentOf } from "../shell/command.js";
import { type Inner, type LookThrough, scriptsOf } from "./inner.js";

const MAKEFILES = list("Makefile makefile GNUmakefile");

/** Recipes of a makefile that comes on stdin or that the command itself has written, and their shell. */
export const make: LookThrough = ({ args, input, scope }) => {
  const given = valuesOf(args, "-f", "--file", "--makefile");
  const files = given.length > 0 ? given : MAKEFILES;
  const texts = files.map((file) =>
    /^(-|\/dev\/stdin)$/.test(file) ? input?.text : contentOf(file, scope).text,
  );
  const recipes = [...texts, ...valuesOf(args, "--eval")].flatMap((text) => [
    ...(text ?? "").replaceAll("\\\n", " ").matchAll(/(?:^\t|;)\s*[@-]*([^\n]+)/gm),
  ]);
  const shells = args.filter((arg) => /^SHELL:?=/.test(arg)).map((arg) => arg.slice(arg.indexOf("=") + 1));
  return [...scriptsOf(...shells), ...recipes.map(([line, script = ""]) => recipe(line, script))];
};

/** Variables of make are no shell's; the rest of a recipe is. */
function recipe(line: string, script: string): Inner {
  return { script, tentative: !line.startsWith("\t") || script.includes("$") };
}

/** `npm run x`, where the command itself has written what `x` is. */
export function packageScripts({ args, scope }: Call): Inner[] {
  const text = scope.files.size === 0 ? undefined : contentOf("package.json", scope).text;
  if (text === undefined) return [];
  const [verb = "", name = ""] = plainArgs(args);
  const wanted = /^run(-script)?$/.test(verb) ? name : verb;
  return ["pre", "", "post"].flatMap((when) => scriptsOf(scriptIn(text, when + wanted)));
}

function scriptIn(text: string, name: string): string | undefined {
  const [, quoted] =
    new RegExp(`"${name.replace(/[^\w:-]/g, ".")}"\\s*:\\s*("(?:[^"\\\\]|\\\\.)*")`).exec(text) ?? [];
  return quoted === undefined ? undefined : unquoted(quoted);
}

function unquoted(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
