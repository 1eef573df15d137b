import { expect, it } from "vitest";
import { typePrompt } from "../../src/workers/type-prompt.js";

/** A terminal that shows these screens one after the other, the last one from then on. */
async function typed(screens: string[]) {
  const [told, keys]: [string[], string[]] = [[], []];
  let at = 0;
  const terminal = {
    screen: async () => screens[Math.min(at++, screens.length - 1)],
    type: async (text: string) => void keys.push(text),
  };
  const stop = new AbortController().signal;
  const why = await typePrompt(terminal, "do it", stop, { warn: (text) => told.push(text), readyMs: 600 });
  return { why, keys, told };
}

it("types to a quiet screen that it does not know after a while, with a warning", async () => {
  expect(await typed(["Welcome to some agent 1.0"])).toEqual({
    why: undefined,
    keys: ["do it"],
    told: [expect.stringMatching(/ralph does not know this screen/)],
  });
});

it.each([
  ["changes", Array.from({ length: 99 }, (_, at) => `building ${at}`)],
  ["belongs to an agent at work", ["• Working (3s • esc to interrupt)\n\n› Ask\n\n  100% context left"]],
])("does not type to a screen that %s", async (_, screens) => {
  expect(await typed(screens)).toEqual({
    why: expect.stringContaining("was not ready to be typed to"),
    keys: [],
    told: [],
  });
});

it("types at once, and warns of nothing, where it knows the input", async () => {
  expect(await typed(["me@host:~$ "])).toEqual({ why: undefined, keys: ["do it"], told: [] });
});
