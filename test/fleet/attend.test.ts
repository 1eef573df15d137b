import { appendFileSync, existsSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { promisify } from "node:util";
import { gunzipSync, gzip } from "node:zlib";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { LoopEvent } from "../../src/events.js";
import { attend } from "../../src/fleet/attend.js";
import type { Piece, Store } from "../../src/fleet/store.js";
import { initialState } from "../../src/records/run-state.js";
import { runFolder } from "../../src/records/runs.js";
import { LIMITS, temporaryFolder } from "../kit.js";

beforeEach(() => vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
afterEach(() => vi.useRealTimers());

const UPLOAD_MS = 500;
/** Neither has room for anything. */
const FULL = existsSync("/proc") ? "/proc" : "/dev";

/** A run at a worker: `sent` is what the store has of its journal. */
function attended(home = tmpdir()) {
  const sent: string[] = [];
  const append = async (_: string, __: number, pieces: Piece[]): Promise<number[]> => {
    sent.push(...pieces.map(({ data }) => gunzipSync(data).toString()));
    return pieces.map(({ at, bytes }) => at + bytes);
  };
  let isLost = false;
  const lease = { isLost: () => isLost, lose: () => {} };
  const engine = { store: { append, files: async () => [] } as unknown as Store, leaseMs: 60_000 };
  const job = { data: { id: "run", request: {} }, updateProgress: async () => {} };
  const claim = {
    context: { engine, name: "w", home, say: () => {} },
    job,
    epoch: 1,
    lease,
    wanted: {},
  };
  const spec = { limits: LIMITS, recipe: { kind: "checks" } };
  const { host, end } = attend(
    claim as never,
    { prepared: { spec }, site: {}, branch: {}, stored: 0 } as never,
  );
  const folder = runFolder(temporaryFolder(), "run");
  mkdirSync(folder.path, { recursive: true });
  const view = host.view(folder);
  return {
    end,
    sent: () => sent.join(""),
    lose: () => {
      isLost = true;
    },
    async happens(type: string, { isWritten = true } = {}): Promise<void> {
      const end = { success: false, reason: "error", iterations: 0, durationMs: 0, message: "no room" };
      const event = { v: 1, type, ts: new Date().toISOString(), run: "run", ...end } as LoopEvent;
      if (isWritten) appendFileSync(folder.journal, `${JSON.stringify(event)}\n`);
      await view.event(event, initialState("run"));
      vi.advanceTimersByTime(UPLOAD_MS);
      // What is sent is compressed first.
      for (let times = 0; times < 5; times += 1) await promisify(gzip)("");
    },
  };
}

it("sends nothing any more of a run whose lease is lost: how it ends here is not its end", async () => {
  const run = attended();
  await run.happens("check.started");
  run.lose();
  await run.happens("run.finished");
  await run.end();
  expect(run.sent()).toContain("check.started");
  expect(run.sent()).not.toContain("run.finished");
});

it("takes an end that could not be written down for no end of the job", async () => {
  const run = attended();
  await run.happens("check.started");
  await run.happens("run.finished", { isWritten: false });
  expect(await run.end()).toMatchObject({ broken: "no room" });
});

it("takes an end on a full disk for no end of the job: another worker may have room", async () => {
  const run = attended(FULL);
  await run.happens("check.started");
  await run.happens("run.finished");
  expect(await run.end()).toMatchObject({ broken: "no space left on the disk" });
  expect(run.sent()).not.toContain("run.finished");
});
