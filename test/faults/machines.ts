import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { dirname, join } from "node:path";
import { atEnd } from "../kit.js";

/** Machines that a test can break: a network of their own, a disk of their own, a clock of their own. */

const CLOCK = join(import.meta.dirname, "clock.cjs");

const tell = (file: string, ...args: string[]): void => void execFileSync(file, args, { stdio: "ignore" });
/** Networks and disks are the business of root. */
export const mayBreakMachines = process.getuid?.() === 0 && spawnSync("ip", ["netns"]).status === 0;

let networks = 0;

/** A namespace with one cable to this machine. */
export interface Network {
  /** This machine, as it is seen from both ends. */
  address: string;
  /** Starts a program in it. */
  through: string[];
  cut(): void;
  mend(): void;
}

export function openNetwork(): Network {
  networks += 1;
  const name = `ralph-${process.pid}-${networks}`;
  const cable = `r${process.pid}n${networks}`;
  const [here, there] = [1, 2].map((end) => `10.${process.pid % 250}.${networks % 250}.${end}`);
  const inside = (...words: string[]): void => tell("ip", "-n", name, ...words);
  tell("ip", "netns", "add", name);
  atEnd(() => tell("ip", "netns", "del", name));
  tell("ip", "link", "add", cable, "type", "veth", "peer", "name", "up0", "netns", name);
  tell("ip", "addr", "add", `${here}/24`, "dev", cable);
  tell("ip", "link", "set", cable, "up");
  inside("addr", "add", `${there}/24`, "dev", "up0");
  inside("link", "set", "up0", "up");
  inside("link", "set", "lo", "up");
  inside("route", "add", "default", "via", here as string);
  return {
    address: here as string,
    through: ["nsenter", `--net=/run/netns/${name}`],
    cut: () => tell("ip", "link", "set", cable, "down"),
    mend: () => tell("ip", "link", "set", cable, "up"),
  };
}

/** A small disk, which can be full. */
export interface Disk {
  path: string;
  fill(): void;
  empty(): void;
}

export function openDisk(path: string): Disk {
  mkdirSync(path, { recursive: true });
  tell("mount", "-t", "tmpfs", "-o", "size=256m", "none", path);
  atEnd(() => tell("umount", "--lazy", path));
  const ballast = join(path, "ballast");
  return {
    path,
    fill: () => void spawnSync("dd", ["if=/dev/zero", `of=${ballast}`, "bs=64k"], { stdio: "ignore" }),
    empty: () => rmSync(ballast, { force: true }),
  };
}

/** A clock: the variables that give it to a program, and by how many seconds it is wrong from now on. */
export function openClock(file: string) {
  return {
    env: { CLOCK: file, NODE_OPTIONS: `--require ${CLOCK}` },
    set: (seconds: number): void => writeFileSync(file, String(seconds)),
  };
}

/** Serves a bare repository by http, as git's own program does it. Returns its address. */
export async function serveGit(repository: string, address: string): Promise<string> {
  tell("git", "-C", repository, "config", "http.receivepack", "true");
  const server = createServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? "", "http://localhost");
    const backend = spawn("git", ["http-backend"], {
      stdio: ["pipe", "pipe", "ignore"],
      env: {
        ...{ PATH: process.env["PATH"], GIT_PROJECT_ROOT: dirname(repository), GIT_HTTP_EXPORT_ALL: "1" },
        ...{ REQUEST_METHOD: request.method, PATH_INFO: pathname, QUERY_STRING: search.slice(1) },
        ...{ CONTENT_TYPE: request.headers["content-type"], REMOTE_USER: "worker" },
        ...{ HTTP_CONTENT_ENCODING: request.headers["content-encoding"] },
        GIT_PROTOCOL: request.headers["git-protocol"] as string | undefined,
      },
    });
    request.pipe(backend.stdin);
    const parts: Buffer[] = [];
    backend.stdin.on("error", () => {});
    backend.stdout.on("data", (part: Buffer) => parts.push(part));
    backend.on("close", () => {
      const said = Buffer.concat(parts);
      const end = said.indexOf("\r\n\r\n");
      const headers = said.subarray(0, end).toString().split("\r\n");
      const fields = headers.map((line) => line.split(": ") as [string, string]);
      const status = fields.find(([name]) => name === "Status")?.[1];
      response.writeHead(status === undefined ? 200 : Number.parseInt(status, 10), fields.flat());
      response.end(said.subarray(end + 4));
    });
  });
  await listen(server, address);
  atEnd(() => server.close());
  const at = server.address();
  return `http://${address}:${typeof at === "object" && at !== null ? at.port : 0}/remote.git`;
}

function listen(server: Server, address: string): Promise<void> {
  return new Promise((resolve) => server.listen(0, address, resolve));
}
