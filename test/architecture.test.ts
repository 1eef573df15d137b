import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";

/**
 * The house: how many lines each room may have, and which rooms it may import. `leaves` are the files of `src/`
 * itself, which every room may import; `entries` are those of them that start something.
 */
const ROOMS: Record<string, { lines: number; imports: string[] }> = {
  leaves: { lines: 1240, imports: [] },
  process: { lines: 823, imports: [] },
  settings: { lines: 885, imports: ["records"] },
  guard: { lines: 2783, imports: [] },
  agents: { lines: 1818, imports: [] },
  records: { lines: 2440, imports: ["process", "agents"] },
  workspace: { lines: 3832, imports: ["process", "records"] },
  sandbox: { lines: 1400, imports: ["process", "agents", "records", "workspace"] },
  verify: { lines: 2137, imports: ["process", "records", "workspace", "sandbox"] },
  receipts: { lines: 731, imports: ["process", "records", "workspace", "verify"] },
  loop: { lines: 919, imports: ["records"] },
  ask: { lines: 1025, imports: ["process", "agents", "records", "sandbox", "verify", "loop"] },
  recipes: {
    lines: 5313,
    imports: ["process", "settings", "records", "workspace", "sandbox", "verify", "loop"],
  },
  hooks: { lines: 596, imports: ["guard", "records", "workspace", "recipes"] },
  workers: { lines: 1426, imports: ["process", "agents", "records", "ask"] },
  /** With the parts that the HTML report and the dashboard share. */
  views: { lines: 3460, imports: ["settings", "guard", "records", "verify", "workers", "recipes", "setup"] },
  run: {
    lines: 3634,
    imports: [
      "process",
      "settings",
      "agents",
      "records",
      "workspace",
      "sandbox",
      "verify",
      "loop",
      "ask",
      "recipes",
      "receipts",
      "lanes",
      "hooks",
      "workers",
      "views",
    ],
  },
  lanes: {
    lines: 1334,
    imports: ["agents", "settings", "records", "workspace", "verify", "loop", "recipes"],
  },
  github: { lines: 2551, imports: ["process", "records", "workspace", "verify", "views"] },
  setup: { lines: 1022, imports: ["process", "settings", "agents", "records", "workspace", "sandbox"] },
  library: { lines: 335, imports: ["settings", "records", "workspace", "ask", "recipes", "run"] },
  commands: {
    lines: 4409,
    imports: [
      "process",
      "settings",
      "guard",
      "agents",
      "receipts",
      "records",
      "workspace",
      "verify",
      "recipes",
      "hooks",
      "workers",
      "views",
      "run",
      "github",
      "setup",
      "ui",
      "fleet",
    ],
  },
  /** Server and page; half of it is the page, whose markup takes a line for each tag. */
  ui: { lines: 4526, imports: ["process", "records", "workspace", "recipes", "workers", "views", "run"] },
  /** Two engines, the fence in git, records to and fro, and the watch over a claim: each is a file. */
  fleet: {
    lines: 2896,
    imports: ["process", "settings", "agents", "records", "workspace", "views", "run"],
  },
  cli: { lines: 1755, imports: ["settings", "agents", "records", "views", "commands"] },
};

const ENTRIES = ["src/start.cts", "src/main.ts", "src/index.ts"];
const MOST_FILES = 360;
const LONGEST_FILE = 300;

const FILES = readdirSync("src", { recursive: true, encoding: "utf8" })
  .map((name) => join("src", name))
  .filter((path) => /\.(?:c?ts|tsx)$/.test(path));
const TEXTS = new Map(FILES.map((path) => [path, readFileSync(path, "utf8")]));

function roomOf(path: string): string {
  const [, room = "", ...rest] = path.split("/");
  return rest.length > 0 ? room : "leaves";
}

function linesOf(path: string): number {
  return (TEXTS.get(path) ?? "").split("\n").length - 1;
}

/** The files that a file imports, for their types, too, and when it runs. */
function importsOf(path: string): string[] {
  const found = (TEXTS.get(path) ?? "").matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]+)"/g);
  const paths = [...found].map(([, to = ""]) => join(dirname(path), to).replace(/js(x?)$/, "ts$1"));
  return paths.filter((to) => TEXTS.has(to));
}

describe("the house", () => {
  test("has the rooms that it is said to have", () => {
    expect([...new Set(FILES.map(roomOf))].sort()).toEqual(Object.keys(ROOMS).sort());
  });

  test.each(Object.entries(ROOMS))("%s keeps to its lines", (room, { lines }) => {
    const sum = FILES.filter((path) => roomOf(path) === room).reduce((all, path) => all + linesOf(path), 0);
    expect(sum).toBeLessThanOrEqual(lines);
  });

  test.each(Object.entries(ROOMS))("%s imports what it may", (room, { imports }) => {
    const allowed = ["leaves", room, ...imports];
    const others = FILES.filter((path) => roomOf(path) === room && !ENTRIES.includes(path)).flatMap((path) =>
      importsOf(path)
        .filter((to) => !allowed.includes(roomOf(to)))
        .map((to) => `${path} imports ${to}`),
    );
    expect(others).toEqual([]);
  });

  test("has no cycle between its rooms", () => {
    const graph = new Map(Object.entries(ROOMS).map(([room, { imports }]) => [room, imports]));
    expect(cyclesIn(graph)).toEqual([]);
  });

  test("has no cycle between its files", () => {
    expect(cyclesIn(new Map(FILES.map((path) => [path, importsOf(path)])))).toEqual([]);
  });

  test("has no type name that means two things", () => {
    const names = FILES.flatMap((path) =>
      [...(TEXTS.get(path) ?? "").matchAll(/^(?:export )?(?:interface|type) (\w+)/gm)].map(
        ([, name]) => `${name} ${roomOf(path)}`,
      ),
    );
    const rooms = [...new Set(names)].map((one) => one.split(" ")[0]);
    expect(rooms.filter((name, index) => rooms.indexOf(name) < index)).toEqual([]);
  });

  test("has no file that is too long, and not too many of them", () => {
    expect(FILES.filter((path) => linesOf(path) > LONGEST_FILE)).toEqual([]);
    expect(FILES.length).toBeLessThanOrEqual(MOST_FILES);
  });
});

describe("a start", () => {
  test.each([
    ...["commands/task", "commands/start-run", "recipes/task/task", "views/console"],
    ...["run/assemble", "run/recorded"],
  ])("of a loop loads no package with %s before it is needed", (name) => {
    const reached = new Set([`src/${name}.ts`]);
    for (const path of reached) for (const to of loadedBy(path)) reached.add(to);
    const isPackage = /^import (?!type )[^;]*from "(?!\.|node:)/m;
    expect([...reached].filter((path) => isPackage.test(TEXTS.get(path) ?? ""))).toEqual([]);
  });
});

/** The files that are loaded with a file: not for their types, and not only when something is called. */
function loadedBy(path: string): string[] {
  const code = (TEXTS.get(path) ?? "").replace(/^(?:import|export) type [^;]*;$/gm, "");
  const found = code.matchAll(/^(?:import|export)\b[^;]*?\bfrom "(\.[^"]+)"/gm);
  const paths = [...found].map(([, to = ""]) => join(dirname(path), to).replace(/js$/, "ts"));
  return paths.filter((to) => TEXTS.has(to));
}

/** The edges that lead back to where a walk has come from. */
function cyclesIn(graph: Map<string, string[]>): string[] {
  const state = new Map<string, "open" | "done">();
  const found: string[] = [];
  const visit = (node: string): void => {
    state.set(node, "open");
    for (const next of graph.get(node) ?? []) {
      if (state.get(next) === "open") found.push(`${node} → ${next}`);
      else if (!state.has(next)) visit(next);
    }
    state.set(node, "done");
  };
  for (const node of graph.keys()) if (!state.has(node)) visit(node);
  return found;
}
