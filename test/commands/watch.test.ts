import { expect, test } from "vitest";
import { watch } from "../../src/commands/watch.js";

test("without a terminal there is no screen, and a way to see the same", async () => {
  const effects = {
    rows: () => [],
    act: async () => "",
    page: async () => "",
    follow: async function* () {},
  };
  await expect(watch({}, effects)).rejects.toMatchObject({
    message: "ralph watch needs a terminal",
    hint: "ralph ls prints the same once",
    exitCode: 2,
  });
});
