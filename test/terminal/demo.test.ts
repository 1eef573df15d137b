import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createProject } from "../kit.js";
import { openTerminal } from "./tmux.js";

const leftovers = (root: string) => readdirSync(root).filter((name) => name.startsWith("ralph-demo-"));

describe("ralph demo on a terminal", () => {
  it("fits 80 columns and leaves nothing behind", async () => {
    const p = createProject();
    const terminal = await openTerminal(p);
    terminal.type("ralph demo; echo code $?\n");
    await terminal.shows(/iteration \d\/5 · demo agent/);
    await terminal.shows("code 0");
    const screen = terminal.screen();
    expect(screen.replace(/\s+/g, " ")).toContain("claimed to be done, but checks failed");
    expect(screen.replace(/\s+/g, " ")).toContain("To keep them: ralph demo --keep");
    // The status line is gone, and nothing of it is left between the lines.
    expect(screen).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/);
    // No word is broken by the edge of the terminal, paths apart; code that is too long is cut and marked.
    const cut = screen.split("\n").filter((line) => line.length >= 80 && !/ \/|…$/.test(line));
    expect(cut).toEqual([]);
    expect(terminal.colours()).toContain("\u001b[32m");
    expect(leftovers(p.root)).toEqual([]);
  });

  it("is left by Ctrl+C at once, and leaves nothing behind", async () => {
    const p = createProject();
    const terminal = await openTerminal(p);
    terminal.type("ralph demo; echo code $?\n");
    await terminal.shows("Read(cart.js)");
    terminal.press("C-c");
    await terminal.shows("Received signal, shutting down...");
    terminal.press("C-c");
    await terminal.shows("code 130");
    expect(terminal.screen()).not.toContain("ralph resume");
    expect(leftovers(p.root)).toEqual([]);
  });
});
