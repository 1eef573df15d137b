import { expect, it } from "vitest";
import { createProject } from "../kit.js";

const KEY = "swordfish-4242-swordfish";
const IN_PROMPT = "hush-hush-hush-4242";
/** What everybody on the machine can see of processes, as each program that ralph starts sees it. */
const LOOK = "ps axww -o args >> $SEEN";

it("no secret stands in the arguments of a process, in records, reports or notices", async () => {
  const p = createProject();
  const seen = `${p.root}/seen`;
  p.write("PROMPT.md", `the password is ${IN_PROMPT}, the key is ${KEY}`);
  p.settings({
    agent: { command: "claude", env: {} },
    scm: { command: "git", tasks: ["commit"] },
    notify: { command: `cat >> ${p.root}/notices; ${LOOK}` },
  });
  p.agent(
    [
      {
        bash: `${LOOK}; echo $MY_API_KEY $RALPH_HOOK_TOKEN > ${p.root}/inside; echo x > new`,
        text: `${KEY} <response>DONE</response>`,
      },
    ],
    {
      commit: "<response>Use the key</response>",
    },
  );
  const run = p.start(["run", "-f", "PROMPT.md", "--check", `${LOOK}; echo $MY_API_KEY`, "--json"], {
    env: { MY_API_KEY: KEY, SEEN: seen },
  });
  const { code, all } = await run.result;
  const [key = "", token = ""] = p.sh(`cat ${p.root}/inside`).trim().split(" ");
  expect({ code, key, hasToken: token.length > 20 }).toEqual({ code: 0, key: KEY, hasToken: true });
  const processes = p.sh(`cat ${seen}`);
  expect(processes).toMatch(/claude -p|scripted/);
  for (const secret of [KEY, IN_PROMPT, token]) expect(processes).not.toContain(secret);
  const page = (await p.ralph("report", "--html", "-")).stdout;
  const records = p.sh(
    `cat $(find ${p.home}/.ralph .ralph -type f -not -name settings.json) ${p.root}/notices`,
  );
  for (const secret of [KEY, token]) expect(all + page + records).not.toContain(secret);
});
