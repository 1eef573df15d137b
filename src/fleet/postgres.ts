import type { Pool } from "pg";
import type { FilePiece, Store } from "./store.js";

/**
 * Two processes that create them at the same moment would get in each other's way: the lock lets one go first. A piece
 * is added by the server alone: a worker that was frozen in the middle would hold its locks.
 */
const TABLES = `
BEGIN;
SELECT pg_advisory_xact_lock(7264);
CREATE TABLE IF NOT EXISTS ralph_document (key text PRIMARY KEY, version bigint NOT NULL, value jsonb NOT NULL);
CREATE TABLE IF NOT EXISTS ralph_epoch (run text PRIMARY KEY, epoch bigint NOT NULL);
CREATE TABLE IF NOT EXISTS ralph_file (
  run text, file text, bytes bigint NOT NULL, stamp text NOT NULL, PRIMARY KEY (run, file));
CREATE TABLE IF NOT EXISTS ralph_piece (
  run text, file text, at bigint, bytes bigint NOT NULL, data bytea NOT NULL, PRIMARY KEY (run, file, at));
CREATE OR REPLACE FUNCTION ralph_append_all(
  of_run text, by_epoch bigint, now text, files text[], starts bigint[], sizes bigint[], pieces bytea[])
RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
  length bigint;
  lengths bigint[];
BEGIN
  PERFORM FROM ralph_epoch WHERE run = of_run AND epoch = by_epoch FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  FOR i IN 1 .. cardinality(files) LOOP
    SELECT COALESCE(MAX(bytes), 0) INTO length FROM ralph_file WHERE run = of_run AND file = files[i];
    IF starts[i] IN (0, length) THEN
      IF starts[i] = 0 THEN DELETE FROM ralph_piece WHERE run = of_run AND file = files[i]; END IF;
      INSERT INTO ralph_piece VALUES (of_run, files[i], starts[i], sizes[i], pieces[i]);
      length := starts[i] + sizes[i];
      INSERT INTO ralph_file VALUES (of_run, files[i], length, length || ' ' || now)
        ON CONFLICT (run, file) DO UPDATE SET bytes = EXCLUDED.bytes, stamp = EXCLUDED.stamp;
    END IF;
    lengths := lengths || length;
  END LOOP;
  RETURN lengths;
END $$;
COMMIT`;

const NEW = "INSERT INTO ralph_document VALUES ($1, 1, $2) ON CONFLICT DO NOTHING";
const CHANGED = "UPDATE ralph_document SET version = version + 1, value = $2 WHERE key = $1 AND version = $3";
const RAISED = `INSERT INTO ralph_epoch VALUES ($1, 1)
  ON CONFLICT (run) DO UPDATE SET epoch = ralph_epoch.epoch + 1 RETURNING epoch`;
const APPEND = "SELECT ralph_append_all($1, $2, $3, $4, $5, $6, $7) AS lengths";

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
    async append(run, epoch, pieces) {
      const of = <Name extends keyof FilePiece>(name: Name) => pieces.map((piece) => piece[name]);
      const given = [of("file"), of("at"), of("bytes"), of("data")];
      const { lengths } = (await pool.query(APPEND, [run, epoch, String(Date.now()), ...given])).rows[0];
      return lengths === null ? "fenced" : lengths.map(Number);
    },
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
