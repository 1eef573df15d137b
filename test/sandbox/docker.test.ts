import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createProject, NO_SANDBOX } from "../kit.js";
import { dockerProject } from "./fake-docker.js";

const ASKED = ["run", "-p", "do it", "--no-done-instruction", "--json"];
const RUN = [...ASKED, "--check", "true"];
const FLAGS =
  "--output-format stream-json --verbose --include-partial-messages --dangerously-skip-permissions";
const HOSTS = ["api.anthropic.com", "platform.claude.com", "console.anthropic.com", "claude.ai"];
const LINK = `bash -c rm -rf /home/agent/.claude /home/agent/.claude.json 2>/dev/null || true
ln -s "$1/.claude" /home/agent/.claude
ln -s "$1/.claude.json" /home/agent/.claude.json
chown -h agent:agent /home/agent/.claude /home/agent/.claude.json 2>/dev/null || true bash HOME/.dclaude_state`;
const IDENTITY = `bash -c git config --global user.email "ralph@localhost"
git config --global user.name "Ralph Loop"`;

const POLICY = `sandbox network proxy NAME --policy deny ${HOSTS.map((host) => `--allow-host ${host}`).join(" ")}`;

describe.each(["docker", "sbx"] as const)("%s", (program) => {
  const at = program === "docker" ? "sandbox " : "";
  const policy = program === "docker" ? POLICY : `policy allow network --sandbox NAME ${HOSTS.join(",")}`;

  it("is created, set up, and asked, without an agent on this machine", async () => {
    const p = dockerProject(program);
    const { code, stderr } = await p.ralph(...RUN);
    expect({ code, calls: p.calls() }).toEqual({
      code: 0,
      calls: [
        `${at}ls`,
        `${at}ls`,
        `${at}create --name NAME claude DIR HOME/.dclaude_state`,
        `${at}exec -u root NAME ${LINK}`,
        `${at}exec NAME ${IDENTITY}`,
        policy,
        `${at}run NAME -- -p do it ${FLAGS}`,
      ],
    });
    expect(readFileSync(join(p.home, ".dclaude_state/.claude.json"), "utf8")).toBe("{}\n");
    expect(statSync(join(p.home, ".dclaude_state")).mode & 0o077).toBe(0);
    expect(stderr.split("\n")[0]).toContain(
      "ralph: sandbox: docker (the agent works in a virtual machine of",
    );
  });

  it("says plainly that nobody is logged in to it", async () => {
    const p = dockerProject(program, { fails: { ls: "ERROR: not signed in" } });
    const { code, stderr } = await p.ralph(...RUN);
    const how = program === "sbx" ? "sbx login" : "docker login, or sign in to Docker Desktop";
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `ralph: error: the sandbox docker does not work here: docker: ${program} is not logged in to Docker (${how}; or run without one: --no-sandbox)\n`,
    });
  });
});

it("docker: is used again, and an empty answer is asked for again", async () => {
  const p = dockerProject("docker", { answers: ["", "", "<response>DONE</response>"] });
  writeFileSync(join(p.bin, "docker.made"), `${p.name}x claude\n${p.name}  claude  stopped  ${p.dir}\n`);
  const { code } = await p.ralph(...RUN);
  const asked = `sandbox run NAME -- -p do it ${FLAGS}`;
  expect({ code, calls: p.calls() }).toEqual({
    code: 0,
    calls: [`sandbox ls`, `sandbox ls`, POLICY, asked, asked, asked],
  });
});

it("docker: says plainly that the agent is not logged in inside", async () => {
  const p = dockerProject("docker", { answers: ["Not logged in · Please run /login"] });
  const { events } = await p.ralph(...RUN, "--max-failures", "1");
  const finished = events.find((event) => event.type === "agent.finished");
  expect(finished).toMatchObject({
    error: `the agent is not logged in inside the sandbox: start docker sandbox run ${p.name} once and log in there (Not logged in · Please run /login)`,
  });
});

it("docker: is stopped and started again after a pause, and after a commit outside", async () => {
  const p = dockerProject("docker", { answers: ["no", "<response>DONE</response>", "no"] });
  const again = ["sandbox stop NAME", `sandbox run NAME -- -p do it ${FLAGS}`];
  expect((await p.ralph(...RUN, "-n", "1")).code).toBe(1);
  expect((await p.ralph("resume", "--json", "-n", "2")).code).toBe(0);
  expect(p.calls().slice(-2)).toEqual(again);
  await p.ralph(...ASKED, "--check", "git commit -q --allow-empty -m outside");
  expect(p.calls().slice(-2)).toEqual(again);
});

it("docker: other agents are executed inside, with the prompt on their input", async () => {
  const p = dockerProject("docker", { answers: ["x"] });
  const { code } = await p.ralph(...ASKED, "--agent", "codex", "-n", "1");
  expect(code).toBe(1);
  expect(p.calls().find((call) => call.includes("create"))).toContain("--name NAME codex DIR");
  expect(p.calls().at(-1)).toMatch(/^sandbox exec -i -w DIR .* NAME codex exec --json .* - <do it>$/);
});

it.each([
  ["docker", "sandbox network proxy NAME --policy deny"],
  ["sbx", "policy deny network --sandbox NAME-offline **"],
] as const)("%s: an agent without hosts reaches none, and that is said", async (program, policy) => {
  const p = dockerProject(program);
  const { stderr } = await p.ralph("run", "-p", "x", "--agent", "my-agent", "--json", "-n", "1");
  expect(p.calls()).toContain(policy);
  expect(stderr.split("\n")[0]).toMatch(/, and reaches no host\)$/);
});

describe("--sandbox", () => {
  it("alone needs one that works, and says what to install", async () => {
    const p = dockerProject("docker", { fails: { ls: "docker: 'sandbox' is not a docker command." } });
    const { code, stderr, stdout } = await p.ralph(...RUN, "--sandbox");
    expect({ code, stderr, stdout }).toEqual({
      code: 2,
      stdout: "",
      stderr:
        "ralph: error: no sandbox works here: docker: this docker has no sandboxes; srt: bwrap, socat, rg not found (install sbx, or Docker Desktop 4.58 or later (https://docs.docker.com/ai/sandboxes/); or install bubblewrap, socat, ripgrep (Debian: apt-get install bubblewrap socat ripgrep); or run without one: --no-sandbox)\n",
    });
  });

  it.each([[[]], [["-q"]]])("auto goes without one, and says why: %j", async (quiet) => {
    const p = dockerProject("docker", { fails: { ls: "docker: 'sandbox' is not a docker command." } });
    p.program("my-agent", "#!/bin/sh\necho '<response>DONE</response>'\n");
    const { code, stderr } = await p.ralph(...RUN, ...quiet, "--sandbox", "auto", "--agent", "my-agent");
    expect({ code, first: stderr.split("\n")[0] }).toEqual({
      code: 0,
      first:
        "ralph: sandbox: none (the agent can do everything that you can; docker: this docker has no sandboxes; srt: bwrap, socat, rg not found)",
    });
  });

  it.each([[[]], [["-q"]]])(
    "is none elsewhere, and the first line says so unless with -q: %j",
    async (flags) => {
      const p = createProject();
      p.program("my-agent", "#!/bin/sh\necho '<response>DONE</response>'\n");
      const { all } = await p.ralph("run", "-p", "x", "--agent", "my-agent", "--json", ...flags);
      expect(all.includes(`\n${NO_SANDBOX}ralph: warning`)).toBe(flags.length === 0);
    },
  );

  it.each([["run", "-p", "x"], ["loop", "t", "--check", "true"], ["resume"]])(
    "of another kind is exit 2: ralph %s",
    async (...words) => {
      const p = createProject();
      p.program("no", "#!/bin/sh\nexit 1\n");
      if (words[0] === "resume") await p.ralph("run", "-p", "x", "--agent", "no", "--max-failures", "1");
      const { code, stderr } = await p.ralph(...words, "--sandbox", "podman");
      const error = "ralph: error: --sandbox podman: expected auto, docker, srt or none";
      expect({ code, stderr: stderr.split("\n").at(-2) }).toEqual({ code: 2, stderr: error });
    },
  );
});
