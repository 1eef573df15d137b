/** Moves the clock of the program that loads it by as many seconds as the file CLOCK says, at any time. */
const { readFileSync } = require("node:fs");

const LOOK_MS = 50;
const RealDate = Date;
let offset = 0;
let looked = Number.NEGATIVE_INFINITY;

function now() {
  if (performance.now() > looked + LOOK_MS) {
    looked = performance.now();
    try {
      offset = 1000 * Number(readFileSync(process.env.CLOCK, "utf8"));
    } catch {
      offset = 0;
    }
  }
  return RealDate.now() + offset;
}

globalThis.Date = class extends RealDate {
  constructor(...given) {
    super(...(given.length > 0 ? given : [now()]));
  }
  static now() {
    return now();
  }
};
