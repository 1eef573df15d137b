import Anser from "anser";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Look, RunRow } from "../api.js";

const SIGNS: Record<Look, [sign: string, word: string]> = {
  passed: ["✓", "passed"],
  failed: ["×", "failed"],
  "agent-failed": ["!", "agent failed"],
  "cut-off": ["–", "cut off"],
  "at-work": ["…", "at work"],
  "not-run": ["·", "not run"],
  same: ["=", "unchanged"],
};

/** How something came out: told apart by sign and word; colour only helps. */
export function Sign({ look }: { look: Look }) {
  const [sign, word] = SIGNS[look];
  return (
    <span class={`sign ${look}`} role="img" aria-label={word}>
      {sign}
    </span>
  );
}

export function lookOfRow({ group, result }: RunRow): Look {
  if (group === "done") return "passed";
  if (group === "working" || group === "waiting") return "at-work";
  if (result === "cut off" || result === "interrupted" || result === "unknown") return "cut-off";
  return group === "needs you" ? "agent-failed" : "failed";
}

/** What a program printed, with its colours. It is text in every case. */
export function Printed({ text }: { text: string }) {
  const pieces = Anser.ansiToJson(text, { json: true, remove_empty: true, use_classes: true });
  return (
    <pre>
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
