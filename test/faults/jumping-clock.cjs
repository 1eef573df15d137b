// Loaded before ralph (NODE_OPTIONS=--require): its clock jumps by as many ms as stand in `jump` of its home,
// from the moment on at which that file appears.
const { readFileSync } = require("node:fs");

const Real = Date;
const now = () => Real.now() + jump();

function jump() {
  try {
    return Number(readFileSync(`${process.env.HOME}/jump`, "utf8"));
  } catch {
    return 0;
  }
}

globalThis.Date = class extends Real {
  constructor(...args) {
    super(...(args.length === 0 ? [now()] : args));
  }
  static now() {
    return now();
  }
};
