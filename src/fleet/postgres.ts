import type { Pool, PoolClient } from "pg";
import type { Appended, Store } from "./store.js";

/** Two processes that create them at the same moment would get in each other's way: the lock lets one go first. */
const TABLES = `
BEGIN;
SELECT pg_advisory_xact_lock(7264);
CREATE TABLE IF NOT EXISTS ralph_document (key text PRIMARY KEY, version bigint NOT NULL, value jsonb NOT NULL);
CREATE TABLE IF NOT EXISTS ralph_epoch (run text PRIMARY KEY, epoch bigint NOT NULL);
CREATE TABLE IF NOT EXISTS ralph_file (
  run text, file text, bytes bigint NOT NULL, stamp text NOT NULL, PRIMARY KEY (run, file));
CREATE TABLE IF NOT EXISTS ralph_piece (
  run text, file text, at bigint, bytes bigint NOT NULL, data bytea NOT NULL, PRIMARY KEY (run, file, at));
COMMIT`;

const NEW = "INSERT INTO ralph_document VALUES ($1, 1, $2) ON CONFLICT DO NOTHING";
const CHANGED = "UPDATE ralph_document SET version = version + 1, value = $2 WHERE key = $1 AND version = $3";
const RAISED = `INSERT INTO ralph_epoch VALUES ($1, 1)
  ON CONFLICT (run) DO UPDATE SET epoch = ralph_epoch.epoch + 1 RETURNING epoch`;
const FILE = `INSERT INTO ralph_file VALUES ($1, $2, $3, $4)
  ON CONFLICT (run, file) DO UPDATE SET bytes = $3, stamp = $4`;

/** The store in PostgreSQL: four tables. */
export async function postgresStore(pool: Pool): Promise<Store> {
  await pool.query(TABLES);
  return {
    async get(keys) {
      const { rows } = await pool.query(
        "SELECT key, version, value FROM ralph_document WHERE key = ANY($1)",
        [keys],
      );
      const found = new Map(
        rows.map(({ key, version, value }) => [key, { version: Number(version), value }]),
      );
      return keys.map((key) => found.get(key));
    },
    async swap(key, version, value) {
      const given = [key, JSON.stringify(value)];
      const { rowCount } = await (version === 0
        ? pool.query(NEW, given)
        : pool.query(CHANGED, [...given, version]));
      return rowCount === 1;
    },
    async keys(kind) {
      const { rows } = await pool.query(
        "SELECT key FROM ralph_document WHERE starts_with(key, $1) ORDER BY key",
        [`${kind}:`],
      );
      return rows.map(({ key }) => String(key));
    },
    raiseEpoch: async (run) => Number((await pool.query(RAISED, [run])).rows[0].epoch),
    append: (run, epoch, piece) =>
      inTransaction(pool, async (client): Promise<Appended> => {
        const { file, at, bytes, data } = piece;
        const one = async (text: string, values: unknown[]) => (await client.query(text, values)).rows[0];
        const now = await one("SELECT epoch FROM ralph_epoch WHERE run = $1 FOR UPDATE", [run]);
        if (Number(now?.epoch) !== epoch) return "fenced";
        const known = await one("SELECT bytes FROM ralph_file WHERE run = $1 AND file = $2", [run, file]);
        const length = Number(known?.bytes ?? 0);
        if (at === 0) await client.query("DELETE FROM ralph_piece WHERE run = $1 AND file = $2", [run, file]);
        else if (at !== length) return length;
        await client.query("INSERT INTO ralph_piece VALUES ($1, $2, $3, $4, $5)", [
          run,
          file,
          at,
          bytes,
          data,
        ]);
        await client.query(FILE, [run, file, at + bytes, `${at + bytes} ${Date.now()}`]);
        return at + bytes;
      }),
    async files(run) {
      const { rows } = await pool.query("SELECT file, bytes, stamp FROM ralph_file WHERE run = $1", [run]);
      return rows.map(({ file, bytes, stamp }) => ({ file, bytes: Number(bytes), stamp }));
    },
    async read(run, file, from) {
      const { rows } = await pool.query(
        "SELECT at, bytes, data FROM ralph_piece WHERE run = $1 AND file = $2 AND at >= $3 ORDER BY at",
        [run, file, from],
      );
      return rows.map(({ at, bytes, data }) => ({ at: Number(at), bytes: Number(bytes), data }));
    },
    async describe() {
      const text = `SELECT version(), extract(epoch FROM clock_timestamp()) * 1000 AS now,
        current_setting('fsync') AS fsync`;
      const { version, now, fsync } = (await pool.query(text)).rows[0];
      const name = String(version).split(" ").slice(0, 2).join(" ");
      return { name, now: Number(now), isDurable: fsync === "on" };
    },
    close: () => pool.end(),
  };
}

async function inTransaction<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let failure: Error | undefined;
  try {
    await client.query("BEGIN");
    const result = await work(client);
    await client.query("COMMIT");
    return result;
  } catch (error) {
    failure = error as Error;
    throw error;
  } finally {
    // A connection in the middle of a transaction is of no use to anybody.
    client.release(failure);
  }
}
