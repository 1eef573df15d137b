import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Engine, fleetAddress, openEngine } from "../../src/fleet/engine.js";
import { atEnd } from "../kit.js";
import { ENGINES, type TestEngine } from "./kit.js";

const FLEET = join(import.meta.dirname, "..", "..", "dist", "fleet");
const addressOf = (url: string) => fleetAddress({} as never, { RALPH_FLEET: url, RALPH_FLEET_LEASE: "1s" });
const piece = (at: number, text: string, file = "log") => ({
  file,
  at,
  bytes: text.length,
  data: Buffer.from(text),
});

/** Adds one piece after the other, and says when it has begun. */
const WRITER = `
import { fleetAddress, openEngine } from "${FLEET}/engine.js";
const { store } = await openEngine(fleetAddress({ fleet: { url: process.argv[1] } }, {}));
for (let at = 0; ; ) {
  [at] = await store.append("frozen", 1, [{ file: "log", at, bytes: 1, data: Buffer.from("x") }]);
  if (at === 5) process.stdout.write("begun");
}`;

describe.each(Object.entries(ENGINES))("the store in %s", (_, start) => {
  let folder: string;
  let own: TestEngine;
  let engine: Engine;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "ralph-store-"));
    own = await start(folder);
    engine = await openEngine(addressOf(own.url));
  });
  afterAll(async () => {
    await engine.close();
    await own.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  it("adds pieces where a file ends, once, and of one writer alone", async () => {
    const { store } = engine;
    expect(await store.raiseEpoch("run")).toBe(1);
    expect(await store.append("run", 1, [piece(0, "abc"), piece(0, "x", "other")])).toEqual([3, 1]);
    expect(await store.append("run", 1, [piece(3, "de"), piece(0, "yz", "other")])).toEqual([5, 2]);
    expect(await store.append("run", 1, [piece(3, "de"), piece(2, "!", "other")])).toEqual([5, 3]);
    expect(await store.read("run", "log", 3)).toEqual([{ at: 3, bytes: 2, data: Buffer.from("de") }]);
    expect(await store.raiseEpoch("run")).toBe(2);
    expect(await store.append("run", 1, [piece(5, "f")])).toBe("fenced");
    expect(await store.append("run", 2, [piece(0, "new")])).toEqual([3]);
    const files = (await store.files("run")).map(({ file, bytes }) => [file, bytes]);
    expect(Object.fromEntries(files)).toEqual({ log: 3, other: 3 });
  });

  it("changes a document by compare-and-swap, and lists the keys of a kind", async () => {
    const { store } = engine;
    expect(await store.swap("job:b", 1, "early")).toBe(false);
    expect([await store.swap("job:b", 0, { n: 1 }), await store.swap("job:a", 0, 2)]).toEqual([true, true]);
    expect([await store.swap("job:b", 1, { n: 2 }), await store.swap("job:b", 1, { n: 3 })]).toEqual([
      ...[true, false],
    ]);
    expect(await store.keys("job")).toEqual(["job:a", "job:b"]);
    const [known, missing] = await store.get(["job:b", "job:c"]);
    expect([known, missing]).toEqual([{ version: 2, value: { n: 2 } }, undefined]);
  });

  it("gives a job to another worker in time when the clock of the last one was ahead", async () => {
    const [queue, ahead, other] = [engine.queue("v1"), engine.worker("v1"), engine.worker("v1")];
    await queue.add("job", { id: "job" } as never);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_000 });
    expect((await ahead.getNextJob("first"))?.name).toBe("job");
    await ahead.startStalledCheckTimer();
    await ahead.close(true);
    vi.useRealTimers();
    await other.startStalledCheckTimer();
    for (;;) if ((await other.getNextJob("second", { block: true }))?.name === "job") break;
  });

  it("is not held up by a writer that is frozen in the middle", async () => {
    await engine.store.raiseEpoch("frozen");
    const args = ["--input-type=module", "-e", WRITER, own.url];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
    atEnd(() => child.kill("SIGKILL"));
    await once(child.stdout, "data");
    for (let times = 0; times < 20; times += 1) {
      child.kill("SIGSTOP");
      expect(await engine.store.append("frozen", 1, [piece(0, "new")])).toEqual([3]);
      child.kill("SIGCONT");
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  });
});
