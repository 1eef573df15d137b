import { killTree } from "../process/kill.js";
import { createLineSplitter } from "../process/output.js";
import { CLAIM_VARIABLE } from "./job.js";

/**
 * The program that ends agents whose worker has lost its lease: also where the worker is frozen and can end nothing
 * itself. It knows each claim by the variable in the environment of all that it has started. When the worker
 * dies, its input ends, and everything is ended at once.
 */

/** `ms`: so long everything with this marker may live on; 0: the claim is given back. */
interface Watch {
  claim: string;
  ms: number;
}

const GRACE_MS = 500;
const LOOK_MS = 100;

const deadlines = new Map<string, number>();

async function endClaim(claim: string): Promise<void> {
  deadlines.delete(claim);
  await killTree({ marker: `${CLAIM_VARIABLE}=${claim}` }, GRACE_MS);
}

function hear(line: string): void {
  const { claim, ms } = JSON.parse(line) as Watch;
  if (ms > 0) deadlines.set(claim, performance.now() + ms);
  else deadlines.delete(claim);
  process.stdout.write("true\n");
}

const lines = createLineSplitter();
process.stdout.on("error", () => {});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
const timer = setInterval(() => {
  const late = [...deadlines].filter(([, until]) => performance.now() >= until);
  for (const [claim] of late) void endClaim(claim);
}, LOOK_MS);
process.stdin.on("data", (chunk: Buffer) => lines.push(chunk).forEach(hear));
process.stdin.on("end", () => {
  clearInterval(timer);
  void Promise.all([...deadlines.keys()].map(endClaim));
});
