import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Entry, EntryPage, RunPage } from "../api.js";
import {
  begun,
  blocksOf,
  type EntryUpdate,
  type HeldEntries,
  heard,
  joined,
  type StreamBlock,
} from "./held.js";
import { follow } from "./live.js";
import { clock, Empty, Jump, Loading, Printed } from "./parts.jsx";
import { Sign } from "./shared.jsx";
import { ask, type Place } from "./store.js";

/** Who wants to hear what a run tells: the page of the run, and its stream. */
const listeners = new Set<(told: EntryUpdate) => void>();

/** Entries loaded after this one join the live entries without a gap. */
let isFollowing: Promise<void> = Promise.resolve();

/** Follows a run from the end of its journal; a stream that is shown says from where it has everything. */
export function watchEntries(id: string, listener: (told: EntryUpdate) => void): () => void {
  listeners.add(listener);
  let stop = (): void => {};
  let isOver = false;
  isFollowing = ask<EntryPage>(`/api/runs/${id}/entries?line=-1&count=1`).then(
    ({ next }) => {
      if (!isOver)
        stop = follow(id, next, (told) => {
          for (const one of listeners) one(told);
        });
    },
    () => {},
  );
  return () => {
    isOver = true;
    listeners.delete(listener);
    stop();
  };
}

const PAGE = 400;
/** Pixels from an end at which more is loaded. */
const NEAR = 200;
const DRAW_MS = 30;
/** So many events can come while a page is on its way. */
const RECENT = 2000;

/** What is held of the journal, and how more of it is loaded. */
function useEntries(id: string, { iteration, lane }: Place) {
  const [held, setHeld] = useState<HeldEntries | undefined>(undefined);
  const recent = useRef<EntryUpdate[]>([]);
  const busy = useRef(false);
  const load = (line: number, count = PAGE): Promise<EntryPage> =>
    ask<EntryPage>(`/api/runs/${id}/entries?line=${line}&count=${count}`);

  useEffect(() => {
    let isOver = false;
    // Agents say a thousand things at once: the page is drawn anew for all of them together.
    let waiting: EntryUpdate[] = [];
    const take = (): void => {
      const all = waiting;
      waiting = [];
      recent.current = [...recent.current, ...all].slice(-RECENT);
      setHeld((before) => before && all.reduce(heard, before));
    };
    const listener = (told: EntryUpdate): void => {
      if (told.run !== id) return;
      if (waiting.length === 0) setTimeout(take, DRAW_MS);
      waiting.push(told);
    };
    const begin = async (): Promise<void> => {
      await isFollowing;
      let found = await load(-PAGE);
      const start = found.iterations.find(
        (one) => one.iteration === iteration && one.lane === (lane ?? undefined),
      )?.line;
      if (start !== undefined) found = await load(start);
      if (!isOver) setHeld(begun(found, recent.current));
    };
    listeners.add(listener);
    void begin().catch(() => {});
    return () => {
      isOver = true;
      listeners.delete(listener);
    };
  }, [id, iteration, lane]);

  const more = async (where: "before" | "after"): Promise<void> => {
    if (held === undefined || busy.current) return;
    busy.current = true;
    try {
      const first = where === "before" ? Math.max(0, held.first - PAGE) : held.end;
      const found = await load(first, where === "before" ? held.first - first : PAGE);
      setHeld((before) => before && joined(before, found, where, recent.current));
    } finally {
      busy.current = false;
    }
  };
  return { held, more };
}

/** What was said and done, from any place of the journal on; at its end it goes on by itself. */
export function Stream({ page, place }: { page: RunPage; place: Place }) {
  const { id } = page.row;
  const { iteration, lane } = place;
  const { held, more } = useEntries(id, place);
  const [isAtEnd, setAtEnd] = useState(true);
  const box = useRef<HTMLDivElement>(null);

  // Text that comes at the end is followed as long as the end is in sight.
  useLayoutEffect(() => {
    if (isAtEnd && box.current !== null && iteration === undefined)
      box.current.scrollTop = box.current.scrollHeight;
  }, [held, isAtEnd, iteration]);

  if (held === undefined) return <Loading lines={12} />;
  const isOwn = (entry: Entry): boolean => lane == null || (entry.lane ?? lane) === lane;
  const blocks = blocksOf(held.entries.filter(isOwn));
  return (
    <div class="stream">
      <Jump page={page} tab="stream" place={place} whole="latest" />
      <div
        class="lines"
        ref={box}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled by keys
        tabIndex={0}
        role="log"
        aria-label="what happened"
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          setAtEnd(scrollHeight - scrollTop - clientHeight < 40);
          if (scrollTop < NEAR && held.first > 0) void more("before");
          if (scrollHeight - scrollTop - clientHeight < NEAR && !held.reachesEnd) void more("after");
        }}
      >
        {held.first > 0 && (
          <button type="button" class="more" onClick={() => void more("before")}>
            Earlier ({held.first} lines of the journal)
          </button>
        )}
        {blocks.length === 0 && <Empty>Nothing was said yet.</Empty>}
        {blocks.map((block) => (
          <KeptBlock key={block.key} block={block} />
        ))}
        {!held.reachesEnd && (
          <button type="button" class="more" onClick={() => void more("after")}>
            Later ({held.total - held.end} lines)
          </button>
        )}
      </div>
      <p class="note">
        lines {held.first + 1} to {held.end} of {held.total}
        {page.row.isLiving && held.reachesEnd && " · live"}
      </p>
    </div>
  );
}

/** Drawn again only when it has changed. */
function KeptBlock({ block }: { block: StreamBlock }) {
  return useMemo(() => <Block block={block} />, [block.text, block.output]);
}

function Block({ block }: { block: StreamBlock }) {
  const { kind, text, more = "", look } = block;
  if (kind === "tool") return <Tool block={block} />;
  if (kind === "text")
    return (
      <div class={`block text ${block.subagent ? "subagent" : ""}`}>
        <Printed text={text} />
        {block.lane !== undefined && <Side block={block} />}
      </div>
    );
  const isOpen = kind === "check" && look === "failed";
  return (
    <div class={`block ${kind}`}>
      {look !== undefined && <Sign look={look} />}
      {more === "" ? <span>{text}</span> : <Folded text={text} more={more} isOpen={isOpen} />}
      <Side block={block} />
    </div>
  );
}

function Tool({ block }: { block: StreamBlock }) {
  const { text, more, output, subagent } = block;
  return (
    <details class={`block tool ${subagent ? "subagent" : ""}`}>
      <summary data-row>
        <span class="name">{text}</span> <code>{more}</code>
        {output !== undefined && (
          <span class={output.look}>
            {output.look === "failed" ? "error" : "ok"} <small>{output.text}</small>
          </span>
        )}
        <Side block={block} />
      </summary>
      {output?.more && <Printed text={output.more} />}
    </details>
  );
}

function Side({ block: { lane, ts } }: { block: StreamBlock }) {
  return (
    <span class="side">
      {lane !== undefined && <span class="tag">{lane}</span>} <time>{clock(ts)}</time>
    </span>
  );
}

function Folded({ text, more, isOpen }: { text: string; more: string; isOpen: boolean }) {
  return (
    <details open={isOpen}>
      <summary data-row>{text}</summary>
      <Printed text={more} />
    </details>
  );
}
