import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createRedactor, openLog } from "../../src/records/redact.js";
import { temporaryFolder } from "../kit.js";

const SECRET = "s3cr3t-0123456789-abcdefghij";
const redact = createRedactor({ MY_API_KEY: SECRET });
const unchanged = (text: string): string => text;

function written(chunks: (string | Buffer)[], clean = redact): Buffer {
  const path = join(temporaryFolder(), "agent.log");
  const log = openLog(path, clean);
  for (const chunk of chunks) log.write(Buffer.from(chunk as string));
  expect(log.close()).toBeUndefined();
  return readFileSync(path);
}

describe("a log", () => {
  it("holds everything in order, with and without a last LF", () => {
    expect(written(["one\ntw", "o\n", "", "three"]).toString()).toBe("one\ntwo\nthree");
    expect(written(["one\n"]).toString()).toBe("one\n");
    expect(written([]).toString()).toBe("");
  });

  it("does not harm bytes of any encoding", () => {
    const bytes = Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 7) % 256));
    expect(written([bytes.subarray(0, 1000), bytes.subarray(1000)]).equals(bytes)).toBe(true);
    const mixed = Buffer.concat([bytes, Buffer.from(`${SECRET} é€😀\u2028\n`)]);
    const clean = Buffer.concat([bytes, Buffer.from("[redacted] é€😀\u2028\n")]);
    expect(written([mixed]).equals(clean)).toBe(true);
  });

  it("hides a secret wherever it is cut in two", () => {
    const text = `key=${SECRET};\n`;
    for (let cut = 0; cut <= text.length; cut += 1) {
      expect(written([text.slice(0, cut), text.slice(cut)]).toString()).toBe("key=[redacted];\n");
    }
  });

  it.each([40_000, 70_000])(
    "hides a secret wherever it stands in a very long line, in pieces of %i",
    (size) => {
      const leaks: number[] = [];
      // The log is written in parts: the secret moves over all places where a part can end.
      for (let at = 60_000; at < 82_000; at += 17) {
        const line = `${"x".repeat(at)}${SECRET}${"y".repeat(25_000)}\n`;
        const log = written([0, 1, 2].map((index) => line.slice(index * size, (index + 1) * size)));
        const tail = line.slice(at + SECRET.length, 3 * size);
        if (log.toString() !== `${"x".repeat(at)}[redacted]${tail}`) leaks.push(at);
      }
      expect(leaks).toEqual([]);
    },
  );

  it("tells why it could not be written and lets the process go on", () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "taken.log"));
    const reasons = ["missing/agent.log", "taken.log"].map((name) => {
      const log = openLog(join(folder, name), unchanged);
      log.write(Buffer.from("output\n"));
      return log.close();
    });
    expect(reasons).toEqual(["no such file", expect.stringMatching(/directory/)]);
  });
});
