import Anser from "anser";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { type CostSum, formatCost } from "../../costs.js";
import type { RunPage } from "../api.js";
import { go, type Place, pathOf } from "./store.js";

/** A text that is longer may have to be scrolled. */
const MOST_SEEN = 400;

/** What a program printed, with its colours. It is text in every case. */
export function Printed({ text }: { text: string }) {
  const pieces = Anser.ansiToJson(text, { json: true, remove_empty: true, use_classes: true });
  return (
    <pre {...(text.length > MOST_SEEN && { tabIndex: 0 })}>
      {pieces.map(({ content, fg, decorations }, index) => (
        <span key={index} class={[fg, ...(decorations ?? [])].filter(Boolean).join(" ")}>
          {content}
        </span>
      ))}
    </pre>
  );
}

export function Section({
  title,
  side,
  children,
}: {
  title: string;
  side?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section>
      <h2>
        {title} {side !== undefined && <small>{side}</small>}
      </h2>
      {children}
    </section>
  );
}

/** What there is to do where there is nothing to see. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="empty">{children}</div>;
}

/** Keeps the place of what is still on its way. */
export function Loading({ lines = 4 }: { lines?: number }) {
  return (
    <div class="loading" role="status" aria-label="loading">
      {Array.from({ length: lines }, (_, line) => (
        <i key={line} />
      ))}
    </div>
  );
}

/** Stands above the page until it is answered; Escape closes it. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const own = useRef<HTMLDialogElement>(null);
  useEffect(() => own.current?.showModal(), []);
  return (
    <dialog ref={own} aria-label={title} onClose={onClose}>
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}

/** More links than this are not shown side by side: those around the chosen one, and the ends. */
const MOST_LINKS = 16;
const AROUND = 3;

/** Leads to the iterations of a run, lane by lane; `whole` is the name of what has no number. */
export function Jump({
  page,
  tab,
  place,
  whole,
}: {
  page: RunPage;
  tab: string;
  place: Place;
  whole?: string;
}) {
  const { id } = page.row;
  const lanes = page.lanes.length === 0 ? [null] : page.lanes.map(({ lane }) => lane);
  const link = (to: Place, words: string) => (
    <a
      key={words}
      href={pathOf(id, tab, to)}
      {...(to.iteration === place.iteration &&
        (to.lane ?? null) === (place.lane ?? null) && { "aria-current": "page" })}
    >
      {words}
    </a>
  );
  return (
    <nav class="jump" aria-label="iterations">
      {whole !== undefined && link({}, whole)}
      {lanes.map((lane) => {
        const numbers = page.iterations.flatMap((one) => (one.lane === lane ? [one.iteration] : []));
        const here = place.lane === lane || lane === null ? place.iteration : undefined;
        return (
          <span key={lane} class="lane">
            {lane !== null && (whole === undefined ? <b>{lane}</b> : link({ lane }, lane))}
            {linksOf(numbers, here).map((number, index) =>
              number === undefined ? (
                <span key={-index}>…</span>
              ) : (
                link({ iteration: number, lane }, String(number))
              ),
            )}
            {numbers.length > MOST_LINKS && (
              <input
                type="number"
                aria-label="go to iteration"
                placeholder="go to"
                min={numbers[0]}
                max={numbers.at(-1)}
                onChange={({ currentTarget }) => {
                  const iteration = currentTarget.valueAsNumber;
                  if (numbers.includes(iteration)) go(pathOf(id, tab, { iteration, lane }));
                }}
              />
            )}
          </span>
        );
      })}
    </nav>
  );
}

/** undefined: here some are left out. */
function linksOf(numbers: number[], here: number | undefined): (number | undefined)[] {
  if (numbers.length <= MOST_LINKS) return numbers;
  const last = numbers.length - 1;
  const at = here === undefined ? last : numbers.indexOf(here);
  const isShown = (index: number): boolean => index === 0 || index === last || Math.abs(index - at) <= AROUND;
  return numbers.flatMap((number, index) =>
    isShown(index) ? [number] : isShown(index - 1) ? [undefined] : [],
  );
}

export function money(usd: number | null): string {
  return usd === null ? "unknown" : formatCost(usd);
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** What is not in a sum, or not sure; empty: all of it is known. */
export function unknownWords({ costUsd, costEstimated, unknown }: CostSum): string {
  const estimated = costEstimated ? "in part an estimate" : "";
  return [estimated, costUsd !== null && unknown > 0 ? `+ ${unknown} unknown` : ""].filter(Boolean).join(" ");
}

const AGES: [unit: string, ms: number][] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
];

/** `3d`, `5h`, `12m`, `40s`. */
export function age(at: string | null, now: number): string {
  if (at === null) return "–";
  const ms = Math.max(0, now - Date.parse(at));
  const [unit, size] = AGES.find(([, least]) => ms >= least) ?? ["s", 1000];
  return `${Math.floor(ms / size)}${unit}`;
}

export function bytes(size: number): string {
  return size < 1024
    ? `${size} B`
    : size < 1024 ** 2
      ? `${(size / 1024).toFixed(1)} KB`
      : `${(size / 1024 ** 2).toFixed(1)} MB`;
}

export function clock(ts: string): string {
  return ts === "" ? "" : new Date(ts).toTimeString().slice(0, 8);
}
