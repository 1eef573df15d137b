import { hasFlag, valuesOf } from "../args.js";
import type { Call } from "../call.js";
import { entryOf } from "../entry.js";
import { type Judged, refuse, warn } from "../finding.js";
import { namesIn } from "../list.js";
import { contentOf } from "../shell/command.js";
import type { Rule } from "./rule.js";

const CLIENTS = namesIn(`
  psql pgcli mysql mycli mariadb sqlite sqlite3 litecli mongo mongosh redis-cli valkey-cli sqlcmd
  cockroach clickhouse clickhouse-client duckdb cqlsh bq snowsql usql sqlplus isql influx neo4j
  cypher-shell wrangler turso supabase
`);
const CONTAINERS = namesIn("docker podman kubectl docker-compose nerdctl oc heroku fly rails bin/rails ssh");

export const databases: Rule = {
  category: "databases",
  judge(call) {
    const own = CLIENTS.has(call.program)
      ? [...call.args, call.input?.text ?? "", ...written(call)]
      : inContainer(call);
    const judged = own.map(statement).filter((one) => one !== undefined);
    return (
      judged.find(({ level }) => level === "refuse") ?? judged[0] ?? entryOf(JUDGES, call.program)?.(call)
    );
  },
};

/** Files with statements that the command itself has just written. */
function written({ args, scope }: Call): string[] {
  return valuesOf(args, "-f", "--file").map((file) => contentOf(file, scope).text ?? "");
}

/** A client in a container works on the same data. */
function inContainer({ program, args, input }: Call): string[] {
  if (!CONTAINERS.has(program)) return [];
  return args.some(
    (arg) =>
      CLIENTS.has(arg.slice(arg.lastIndexOf("/") + 1)) || /\b(psql|mysql|mongosh?|redis-cli)\b/.test(arg),
  )
    ? [...args, input?.text ?? ""]
    : [];
}

function statement(all: string): Judged | undefined {
  const text = all.slice(0, LONGEST).replace(/^(--[a-z-]+=|-[ceqQ](?=[a-z]))/i, "");
  if (
    /\bdropDatabase\s*\(|\.drop\s*\(\s*\)|\.(deleteMany|remove)\s*\(\s*(\{\s*\})?\s*\)|dropCollection|dropUser/.test(
      text,
    )
  )
    return refuse("it empties a database");
  if (/^\s*(flushall|flushdb|shutdown|debug\s+segfault|config\s+set\s+dir)\b/i.test(text))
    return refuse("it empties a database");
  const bare = text
    .replace(/--[^\n]*|\/\*[\s\S]*?\*\/|#[^\n]*/g, " ")
    .replace(/\bexecute\s+'/gi, "")
    .replace(/'(?:[^']|'')*'/g, "''");
  const judged = bare
    .split(";")
    .map(sql)
    .filter((one) => one !== undefined);
  return judged.find(({ level }) => level === "refuse") ?? judged[0];
}

const LONGEST = 20_000;

function sql(text: string): Judged | undefined {
  if (
    /\bdrop\s+(database|table|schema|user|role|owned|tablespace|keyspace|collection|materialized\s+view|index\s+if)\b/i.test(
      text,
    )
  )
    return refuse("it drops what is in a database");
  if (/^[\s(]*(explain\s+)?truncate\b/i.test(text) || /\btruncate\s+table\b/i.test(text))
    return refuse("it empties a table");
  if (/\bdelete\s+from\s+\S+/i.test(text) && isForAll(text))
    return refuse("DELETE without WHERE empties a table");
  if (/\balter\s+table\b[\s\S]*\bdrop\s+column\b/i.test(text)) return warn("it drops a column");
  if (/\bupdate\s+\S+\s+set\b/i.test(text) && isForAll(text))
    return warn("UPDATE without WHERE changes every row");
  return undefined;
}

function isForAll(text: string): boolean {
  const [, condition] = /\bwhere\b([\s\S]*)$/i.exec(text) ?? [];
  return condition === undefined || /^\s*(1\s*=\s*1|true|1|''\s*=\s*'')\s*"?$/i.test(condition);
}

const JUDGES: Record<string, (call: Call) => Judged | undefined> = {
  dropdb: () => refuse("it drops a database"),
  dropuser: () => refuse("it drops a user of a database"),
  mysqladmin: ({ args }) =>
    args.some((arg) => /^(drop|shutdown|flush-\w+)$/.test(arg)) ? refuse("it drops a database") : undefined,
  etcdctl: ({ args }) =>
    args[0] === "del" && hasFlag(args, "", "--prefix", "--from-key")
      ? refuse("it empties a database")
      : undefined,
  influx: ({ args }) =>
    /^(delete|bucket delete|org delete)/.test(args.join(" ")) ? refuse("it empties a database") : undefined,
  pg_dropcluster: () => refuse("it drops databases"),
  pg_restore: ({ args }) =>
    args.some((arg) => /^(-c|--clean)$/.test(arg)) ? refuse("it drops what is in a database") : undefined,
  "redis-cli": ({ args }) =>
    args.some((arg) => /\bflush(all|db)\b|^shutdown$/i.test(arg))
      ? refuse("it empties a database")
      : /\bconfig set (dir|dbfilename)\b/i.test(args.join(" "))
        ? refuse("it makes a database write to a file of the machine")
        : undefined,
  "valkey-cli": (call) => JUDGES["redis-cli"]?.(call),
  rails: reset,
  rake: reset,
  prisma: reset,
  sequelize: reset,
  "sequelize-cli": reset,
  php: reset,
  artisan: reset,
  knex: reset,
  typeorm: reset,
  mix: reset,
  alembic: reset,
  python: reset,
  python3: reset,
  "manage.py": reset,
};

const RESETS =
  /(^| )(db:(drop|reset|purge|wipe)|migrate reset|migrate:(fresh|reset)|db push.*--force-reset|db:drop:all|migrate:rollback --all|schema:drop|ecto\.(drop|reset)|downgrade base|manage\.py (flush|reset_db)|flush$)/;

function reset({ args }: Call): Judged | undefined {
  return RESETS.test(args.join(" ")) ? warn("it empties the database of the project") : undefined;
}
