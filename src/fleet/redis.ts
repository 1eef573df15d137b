import type { Redis } from "ioredis";
import type { Piece, Store } from "./store.js";

const PREFIX = "ralph:fleet";

const SWAP = `
if (redis.call("HGET", KEYS[1], "version") or "0") ~= ARGV[1] then return 0 end
redis.call("HSET", KEYS[1], "version", ARGV[1] + 1, "value", ARGV[2])
redis.call("SADD", KEYS[2], ARGV[3])
return 1`;

const APPEND = `
if (redis.call("GET", KEYS[1]) or "0") ~= ARGV[1] then return -1 end
local lengths = {}
for place = 3, #KEYS do
  local given = 3 + (place - 3) * 4
  local file, at, bytes = ARGV[given], tonumber(ARGV[given + 1]), tonumber(ARGV[given + 2])
  local length = tonumber(string.match(redis.call("HGET", KEYS[2], file) or "0", "^%d+"))
  if at == 0 or at == length then
    if at == 0 then redis.call("DEL", KEYS[place]) end
    redis.call("XADD", KEYS[place], (at + 1) .. "-0", "bytes", bytes, "data", ARGV[given + 3])
    length = at + bytes
    redis.call("HSET", KEYS[2], file, length .. " " .. ARGV[2])
  end
  lengths[place - 2] = length
end
return lengths`;

/** The store in Redis: hashes for documents, a stream for each file. */
export function redisStore(redis: Redis): Store {
  const key = (...parts: string[]): string => [PREFIX, ...parts].join(":");
  return {
    async get(keys) {
      const pipeline = redis.pipeline();
      for (const name of keys) pipeline.hmget(key("document", name), "version", "value");
      const answers = (await pipeline.exec()) ?? [];
      return answers.map(([error, answer]) => {
        if (error) throw error;
        const [version, value] = answer as [string | null, string | null];
        return version === null
          ? undefined
          : { version: Number(version), value: JSON.parse(value ?? "null") };
      });
    },
    async swap(name, version, value) {
      const kind = name.split(":", 1)[0] ?? "";
      const keys = [key("document", name), key("kind", kind)];
      return (await redis.eval(SWAP, 2, ...keys, String(version), JSON.stringify(value), name)) === 1;
    },
    keys: async (kind) => (await redis.smembers(key("kind", kind))).sort(),
    raiseEpoch: (run) => redis.incr(key("epoch", run)),
    async append(run, epoch, pieces) {
      const keys = [
        key("epoch", run),
        key("files", run),
        ...pieces.map(({ file }) => key("file", run, file)),
      ];
      const values = pieces.flatMap(({ file, at, bytes, data }) => [file, String(at), String(bytes), data]);
      const given = [...keys, String(epoch), String(Date.now()), ...values];
      const lengths = (await redis.eval(APPEND, keys.length, ...given)) as -1 | number[];
      return lengths === -1 ? "fenced" : lengths;
    },
    async files(run) {
      const all = await redis.hgetall(key("files", run));
      return Object.entries(all).map(([file, text]) => ({
        file,
        bytes: Number.parseInt(text, 10),
        stamp: text,
      }));
    },
    async read(run, file, from) {
      const entries = await redis.xrangeBuffer(key("file", run, file), `${from + 1}-0`, "+");
      return entries.map(([id, fields]): Piece => {
        const [, bytes, , data] = fields;
        return { at: Number.parseInt(String(id), 10) - 1, bytes: Number(bytes), data: data as Buffer };
      });
    },
    async describe() {
      const [info, [seconds = 0, micros = 0], settings] = await Promise.all([
        redis.info("server"),
        redis.time(),
        // A hosted Redis may not tell.
        redis.config("GET", "appendonly").catch(() => ["appendonly", "yes"]),
      ]);
      const version = /redis_version:(\S+)/.exec(info)?.[1] ?? "";
      const now = Number(seconds) * 1000 + Number(micros) / 1000;
      return { name: `Redis ${version}`, now, isDurable: (settings as string[])[1] === "yes" };
    },
    close: async () => redis.disconnect(),
  };
}
