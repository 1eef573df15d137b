import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

interface Entry {
  version?: string;
  resolved?: string;
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
