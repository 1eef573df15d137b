import { expect, it } from "vitest";
import type { Engine } from "../../src/fleet/engine.js";
import type { JobEntry } from "../../src/fleet/job.js";
import { standingOf } from "../../src/fleet/jobs.js";

const entry = { queue: "v1", job: { id: "one" } } as JobEntry;

/** An engine in which a job is one step further with every question. */
function engineWith(steps: { state: string; job?: object }[]): Engine {
  const next = () => (steps.length > 1 ? steps.shift() : steps[0]);
  const queue = { getJobState: async () => next()?.state, getJob: async () => next()?.job };
  return { queue: () => queue } as unknown as Engine;
}

it("takes no job for cancelled that ends while it is looked at", async () => {
  const active = { state: "active", job: { progress: { status: "running" } } };
  const ended = {
    state: "completed",
    job: { progress: { status: "running" }, returnvalue: { finished: { success: true } } },
  };
  expect((await standingOf(engineWith([active, ended]), entry)).status).toBe("running");
  expect((await standingOf(engineWith([ended]), entry)).status).toBe("finished");
});

it("takes no job for cancelled that is on its way into the queue", async () => {
  const onTheWay = engineWith([{ state: "unknown" }]);
  expect((await standingOf(onTheWay, entry)).status).toBe("queued");
  expect((await standingOf(onTheWay, { ...entry, cancelled: true })).status).toBe("cancelled");
});
