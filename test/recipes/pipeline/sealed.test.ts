import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  firstSealed,
  Seals,
  sealedAfter,
  sealedByHand,
  whatWasChanged,
} from "../../../src/recipes/pipeline/sealed.js";
import type { PipelineSpec, PipelineState } from "../../../src/recipes/pipeline/spec.js";
import { temporaryFolder } from "../../kit.js";
import { gateIn, SPEC, STATE } from "./kit.js";

describe("what has passed its gate", () => {
  const gate = (name: string, command: string): PipelineState => ({ ...STATE, name, command });
  const states = {
    validate: gate("VALIDATE", "ralph gate validate s.md"),
    check: gate("CHECK_PRP", "ralph gate check p.md"),
    tests: gate("CHECK_TESTS", "./validate-tests.sh tests/"),
  };
  const spec: PipelineSpec = { ...SPEC, states: Object.values(states) };
  const FILES = {
    "s.md": "## Success criteria\n\n- a\n- b\n",
    "p.md": "# PRP-1\n",
    "tests/test_a.py": "def test_a():\n    assert f()\n",
    "validate-tests.sh": "exit 1\n",
    "package.json": '{"scripts":{"test":"pytest"}}',
    Makefile: "all:\n\tcc a.c\ntest: all\n\tpytest\n",
    ".ralph/pipeline.yaml": "states: {}\n",
  };
  const project = (): string => {
    const folder = temporaryFolder();
    for (const [file, text] of Object.entries(FILES)) write(folder, file, text);
    return folder;
  };
  const write = (folder: string, file: string, text: string): void => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  const sealedIn3 = (folder: string) =>
    Object.values(states).reduce(
      (sealed, state) => sealedAfter(spec, folder, state, sealed, true),
      firstSealed(spec, folder),
    );

  it.each([
    ["s.md", "## Success criteria\n\n- a\n- c\n", "VALIDATE"],
    ["tests/test_a.py", "def test_a():\n    assert 2\n", "CHECK_TESTS"],
    ["validate-tests.sh", "exit 0\n", "the run began"],
    ["package.json", '{"scripts":{"test":"true"}}', "CHECK_TESTS"],
    ["Makefile", "all:\n\tcc a.c\ntest: all\n\ttrue\n", "CHECK_TESTS"],
  ])("%s must not be changed by an agent", (file, text, since) => {
    const folder = project();
    const sealed = Seals.parse(JSON.parse(JSON.stringify(sealedIn3(folder))));
    expect(whatWasChanged(spec, folder, sealed)).toBeUndefined();
    write(folder, file, text);
    const message = `${file} changed since ${since}: restore it`;
    expect(whatWasChanged(spec, folder, sealed)).toBe(message);
    // What an agent did counts as seen, and is no change by hand later.
    const seen = sealedAfter(spec, folder, STATE, sealed, false);
    expect(whatWasChanged(spec, folder, sealedByHand(spec, folder, seen))).toBe(message);
    expect(whatWasChanged(spec, folder, sealedByHand(spec, folder, sealed))).toBeUndefined();
  });

  it("is more than what decides over tests: the rest of such files may change", () => {
    const folder = project();
    const sealed = sealedIn3(folder);
    write(folder, "package.json", '{"scripts":{"build":"x","test":"pytest"},"dependencies":{"a":"1"}}');
    write(folder, "Makefile", "all: b\n\tcc a.c b.c\ntest: all\n\tpytest\n");
    write(folder, "tests/test_b.py", "");
    expect(whatWasChanged(spec, folder, sealed)).toBeUndefined();
  });

  // The others are in the truth corpus.
  it.each(["src/deep/conftest.py", "tests/tox.ini", "vite.config.ts"])(
    "%s must not be added since",
    (file) => {
      const folder = project();
      const sealed = Seals.parse(JSON.parse(JSON.stringify(sealedIn3(folder))));
      write(folder, file, "[pytest]\naddopts = --test\n");
      const message = `${file} was added since CHECK_TESTS, and decides which tests run: remove it`;
      expect(whatWasChanged(spec, folder, sealed)).toBe(message);
      const seen = sealedAfter(spec, folder, STATE, sealed, false);
      expect(whatWasChanged(spec, folder, sealedByHand(spec, folder, seen))).toBe(message);
      expect(whatWasChanged(spec, folder, sealedByHand(spec, folder, sealed))).toBeUndefined();
    },
  );

  it("is shadowed by node_modules in a folder of tests, but not by those of a package", () => {
    const folder = project();
    write(folder, "packages/a/package.json", "{}");
    write(folder, "packages/a/a.test.js", 'test("a", () => { assert(f()); });\n');
    const tests = gate("CHECK_TESTS", "ralph gate check-tests p.md");
    const own = { ...spec, states: [tests] };
    const sealed = sealedAfter(own, folder, tests, firstSealed(own, folder), true);
    write(folder, "packages/a/node_modules/x/index.js", "");
    write(folder, "node_modules/x/index.js", "");
    expect(whatWasChanged(own, folder, sealed)).toBeUndefined();
    write(folder, "tests/node_modules/x/index.js", "");
    expect(whatWasChanged(own, folder, sealed)).toMatch(/^tests\/node_modules was added since CHECK_TESTS/);
  });

  it("does not pass when the gate itself puts back what an agent has changed", async () => {
    const folder = project();
    const sealed = sealedIn3(folder);
    write(folder, "tests/test_a.py", "def test_a():\n    pass\n");
    const command = `printf '${FILES["tests/test_a.py"].replaceAll("\n", "\\n")}' > tests/test_a.py`;
    const gate = await gateIn(folder, { ...STATE, command }, { sealed });
    expect(gate?.line).toBe("❌ tests/test_a.py changed since CHECK_TESTS: restore it");
    expect(whatWasChanged(spec, folder, sealed)).toBeUndefined();
  });

  it("keeps its criteria from the start on", () => {
    const folder = project();
    const sealed = firstSealed(spec, folder);
    write(folder, "s.md", "## Success criteria\n\n- a\n");
    expect(whatWasChanged(spec, folder, sealed)).toBe(
      "s.md had 2 success criteria, and only 1 are left: restore the others",
    );
  });
});
