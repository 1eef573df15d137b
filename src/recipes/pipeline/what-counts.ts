import { basename } from "node:path";

export const MAKEFILES = ["GNUmakefile", "makefile", "Makefile"];

/** The part of a file that decides over tests, or nothing; the rest of it is the agents' to change. */
export function whatCounts(file: string, text: string): string {
  const name = basename(file);
  if (name === "package.json") return testScripts(text);
  if (MAKEFILES.includes(name))
    return `${partsOf(text, /^[^\s#:=][^:=]*:(?!=)/, /^[^:]*(?:test|check)/)}${linesLike(text, MAKE_SETTING)}`;
  if (name === "pyproject.toml" || name === "setup.cfg" || name === "tox.ini")
    return `${partsOf(text, /^\s*\[/, /pytest|\btox\b|testenv/)}${linesLike(text, PYTEST_KEY)}`;
  // Such a file decides where others are not read any more, also when it is empty.
  if (/^\.?pytest\.(?:ini|toml)$/.test(name)) return `${name}\n${text}`;
  if (name === "Cargo.toml")
    return linesLike(text, /^\s*(?:\[\[test\]\]|(?:autotests|harness|test|doctest)\s*=)/);
  if (name === ".npmrc")
    return linesLike(text, /^(?!\s*(?:$|[#;]|\/\/|(?:@[\w-]+:)?registry\b|(?:save|fund|audit)\b))/);
  if (/^vite\.config\./.test(name)) return /\btest\b|vitest|\balias\b/.test(text) ? text : "";
  return text;
}

/** Rules of tests use variables, and take in other files. */
const MAKE_SETTING = /^(?:(?:export|override)\s+)*[\w.-]+\s*(?:[:?+!]{0,3})=|^[-s]?include\b|^define\b/;

/** Keys may be written without a section: `tool.pytest.ini_options.addopts = …`. */
const PYTEST_KEY = /^\s*["']?(?:tool["']?\s*\.\s*["']?)?pytest\b/;

/** Scripts of tests, and those that they call. */
function testScripts(text: string): string {
  const found = objectIn(text);
  if (found === undefined) return text;
  const scripts = Object.entries(found["scripts"] ?? {}).map(
    ([name, script]) => [name, String(script)] as const,
  );
  const names = new Set(scripts.map(([name]) => name).filter((name) => name.includes("test")));
  for (let size = 0; size !== names.size; ) {
    size = names.size;
    const called = scripts
      .filter(([name]) => names.has(name))
      .flatMap(([, script]) => script.match(/[\w:.-]+/g) ?? []);
    for (const [name] of scripts)
      if (called.includes(name) && !/build|lint|format|type/.test(name)) names.add(name);
  }
  const ofTests = scripts.filter(([name]) => names.has(name));
  const settings = ["jest", "mocha", "ava", "vitest", "tap"].flatMap((name) => {
    const value = found[name];
    return value === undefined ? [] : [[name, value]];
  });
  return ofTests.length + settings.length === 0 ? "" : JSON.stringify([ofTests, settings]);
}

/** undefined: it is no object in JSON. */
function objectIn(text: string): (Record<string, unknown> & { scripts?: object }) | undefined {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
    if (typeof value !== "object" || value === null) return undefined;
    const { scripts, ...others } = { scripts: undefined, ...value };
    return typeof scripts === "object" && scripts !== null ? { ...others, scripts } : others;
  } catch {
    return undefined;
  }
}

function linesLike(text: string, isMeant: RegExp): string {
  const lines = text.split("\n").filter((line) => isMeant.test(line));
  return lines.map((line) => `\n${line.trim()}`).join("");
}

/** The parts of a text whose first line is meant. */
function partsOf(text: string, isFirst: RegExp, isMeant: RegExp): string {
  let isOpen = false;
  const lines = text.split("\n").filter((line) => {
    if (isFirst.test(line)) isOpen = isMeant.test(line);
    return isOpen && line.trim() !== "";
  });
  return lines.join("\n");
}
