import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

interface Entry {
  version?: string;
  license?: string;
  dev?: boolean;
  hasInstallScript?: boolean;
  resolved?: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

const ROOT = join(import.meta.dirname, "..");
const text = readFileSync(join(ROOT, "package-lock.json"), "utf8");
const { packages } = JSON.parse(text) as { packages: Record<string, Entry> };

test("the lock holds the packages of every platform, so that npm ci works on each", () => {
  const wanted = Object.values(packages).flatMap(({ optionalDependencies = {} }) =>
    Object.keys(optionalDependencies),
  );
  expect(wanted.length).toBeGreaterThan(10);
  expect(wanted.filter((name) => packages[`node_modules/${name}`] === undefined)).toEqual([]);
});

test("the lock names no host", () => {
  expect(text).not.toMatch(/"resolved"/);
});

test("dependencies are pinned", () => {
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(join(ROOT, "package.json"), "utf8"),
  ) as Record<string, Record<string, string>>;
  const versions = Object.values({ ...dependencies, ...devDependencies });
  expect(versions.filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
});

test("npx ralph-loop finds the program by the name of the package", () => {
  const { name, bin } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  expect(bin).toEqual({ ralph: "bin/ralph.js", [name]: "bin/ralph.js" });
});

test("no package runs a script when it is installed, and npm refuses one that would", () => {
  const { allowScripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const running = Object.entries(packages)
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([path]) => [path.replace(/^.*node_modules\//, ""), false]);
  expect(Object.fromEntries(running)).toEqual(allowScripts);
  expect(readFileSync(join(ROOT, ".npmrc"), "utf8")).toContain("strict-allow-scripts=true\n");
});

test("docs/internals/security.md tells of each package that is installed with ralph", () => {
  const paths = installedFrom("");
  const installed = Object.entries(packages)
    .filter(([path]) => paths.has(path))
    .map(([path, { version, license }]) =>
      [path.replace(/^.*node_modules\//, ""), version, license].join(" "),
    );
  const page = readFileSync(join(ROOT, "docs/internals/security.md"), "utf8");
  const rows = page.matchAll(/^\| `([^`|]+)` \| (\d[^ |]*) \| ([^|]+) \|/gm);
  const told = [...rows].map(([, name, version, license]) => [name, version, license].join(" "));
  expect(told.sort()).toEqual(installed.sort());
});

test("docs/internals/security.md names tests that are there", () => {
  const page = readFileSync(join(ROOT, "docs/internals/security.md"), "utf8");
  const named = [...page.matchAll(/`(test\/[\w./-]+)`/g)].map(([, path = ""]) => path);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

/** What npm installs below a package: what it needs, and what that needs. */
function installedFrom(path: string, found = new Set<string>()): Set<string> {
  const { dependencies, optionalDependencies } = packages[path] ?? {};
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const at = [`${path}/node_modules/${name}`.replace(/^\//, ""), `node_modules/${name}`].find(
      (place) => packages[place] !== undefined,
    );
    if (at === undefined || found.has(at)) continue;
    installedFrom(at, found.add(at));
  }
  return found;
}
