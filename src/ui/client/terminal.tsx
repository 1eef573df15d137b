import { useEffect, useRef, useState } from "preact/hooks";
import type { RunPage } from "../api.js";
import { Empty } from "./parts.jsx";
import { overview, post } from "./store.js";

interface ShownScreen {
  columns: number;
  rows: number;
  cursor: { column: number; row: number };
  screen: string;
}

/** The window of a worker. What is typed goes into it. */
export function TerminalView({ page }: { page: RunPage }) {
  const box = useRef<HTMLDivElement>(null);
  const [isGone, setGone] = useState(false);
  const { id } = page.row;
  const canType = overview.value?.readOnly === false;
  useEffect(() => {
    let close = (): void => {};
    let isOver = false;
    void openTerminal(box.current as HTMLDivElement, id, canType, () => setGone(true)).then((end) => {
      close = end;
      if (isOver) end();
    });
    return () => {
      isOver = true;
      close();
    };
  }, [id, canType]);
  return (
    <>
      <p class="note">
        {canType ? "What you type goes into this window; Ctrl+C ends the agent in it." : "Read-only."}
      </p>
      {isGone && <Empty>The window is gone: its loop has ended. The stream has what it said.</Empty>}
      <div class="terminal scroll" hidden={isGone} ref={box} />
    </>
  );
}

/** Where the bundle has put the style sheet of xterm. */
declare const TERMINAL_STYLE: string;

function loadStyle(): Promise<unknown> {
  const known = document.querySelector(`link[href="${TERMINAL_STYLE}"]`);
  if (known !== null) return Promise.resolve();
  const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: TERMINAL_STYLE });
  document.head.append(link);
  return new Promise((resolve) => {
    link.addEventListener("load", resolve);
    link.addEventListener("error", resolve);
  });
}

/** xterm is loaded by this page alone. */
async function openTerminal(
  box: HTMLDivElement,
  run: string,
  canType: boolean,
  onGone: () => void,
): Promise<() => void> {
  const [{ Terminal }] = await Promise.all([import("@xterm/xterm"), loadStyle()]);
  const restore = allowStyles();
  const terminal = new Terminal({ disableStdin: !canType, scrollback: 0, cursorBlink: false });
  let source: EventSource | undefined;
  // A browser has six connections to a server: a hidden tab gives its own back.
  const look = (): void => {
    source?.close();
    if (document.visibilityState === "hidden") return;
    source = new EventSource(`/api/runs/${run}/terminal`);
    source.addEventListener("screen", ({ data }) => draw(JSON.parse(String(data)) as ShownScreen | null));
  };
  const draw = (found: ShownScreen | null): void => {
    if (found === null) {
      source?.close();
      onGone();
      return;
    }
    const { columns, rows, cursor, screen } = found;
    if (terminal.cols !== columns || terminal.rows !== rows) {
      terminal.options.fontSize = sizeFor(box, columns);
      terminal.resize(columns, rows);
    }
    if (terminal.element === undefined) terminal.open(box);
    const place = `\u001b[${cursor.row + 1};${cursor.column + 1}H`;
    terminal.write(`\u001b[0m\u001b[H\u001b[2J${screen.replaceAll("\n", "\r\n")}${place}`);
  };
  look();
  document.addEventListener("visibilitychange", look);
  // Keys must not overtake each other.
  let typed: Promise<unknown> = Promise.resolve();
  terminal.onData((keys) => {
    typed = typed.then(() => post(`/api/runs/${run}`, { action: "type", keys })).catch(onGone);
  });
  return () => {
    document.removeEventListener("visibilitychange", look);
    source?.close();
    terminal.dispose();
    restore();
  };
}

/** As large as fits its box, as long as it can be read. */
function sizeFor({ clientWidth }: HTMLElement, columns: number): number {
  return Math.min(13, Math.max(8, Math.floor(clientWidth / columns / WIDE)));
}

/** A sign is so wide, as a part of its height. */
const WIDE = 0.62;

/** xterm writes style elements, which the policy of the page refuses: their rules go into sheets of the page. */
function allowStyles(): () => void {
  const create = document.createElement.bind(document);
  const before = [...document.adoptedStyleSheets];
  document.createElement = ((name: string, options?: ElementCreationOptions) => {
    if (name !== "style") return create(name, options);
    const element = create("template");
    const sheet = new CSSStyleSheet();
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    Object.defineProperty(element, "textContent", { set: (text: string) => sheet.replaceSync(text) });
    return element;
  }) as typeof document.createElement;
  return () => {
    document.createElement = create as typeof document.createElement;
    document.adoptedStyleSheets = before;
  };
}
