// Adds the packages for other platforms to package-lock.json. npm leaves out what the registry at hand does
// not offer, and `npm ci` then refuses the lock; an entry that fits no platform here is never fetched.
import { readFileSync, writeFileSync } from "node:fs";

const FILE = new URL("../package-lock.json", import.meta.url);
const CPUS = {
  x64: "x64",
  arm64: "arm64",
  arm: "arm",
  ia32: "ia32",
  ppc64: "ppc64",
  riscv64: "riscv64",
  s390x: "s390x",
  loong64: "loong64",
  wasm32: "wasm32",
};
const SYSTEMS = [
  "linux",
  "darwin",
  "win32",
  "android",
  "freebsd",
  "openharmony",
  "aix",
  "netbsd",
  "openbsd",
  "sunos",
];

/** What a name such as `@biomejs/cli-linux-x64-musl` says about where the package belongs. */
function platformOf(name) {
  const words = name.split(/[/-]/);
  const cpu = words.find((word) => Object.hasOwn(CPUS, word));
  const os = words.find((word) => SYSTEMS.includes(word));
  const last = words.at(-1) ?? "";
  const libc = /musl/.test(last) ? "musl" : /gnu/.test(last) && os === "linux" ? "glibc" : undefined;
  return { cpu: [cpu ?? "unknown"], ...(libc && { libc: [libc] }), ...(os && { os: [os] }) };
}

const lock = JSON.parse(readFileSync(FILE, "utf8"));
const added = [];
for (const owner of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(owner.optionalDependencies ?? {})) {
    const path = `node_modules/${name}`;
    if (Object.hasOwn(lock.packages, path)) continue;
    lock.packages[path] = { version, ...platformOf(name), ...(owner.dev && { dev: true }), optional: true };
    added.push(name);
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(FILE, `${JSON.stringify(lock, null, 2)}\n`);
console.log(added.length === 0 ? "the lock is complete" : `added ${added.join(", ")}`);
