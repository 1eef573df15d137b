import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createProject, eventually, type Result } from "../../kit.js";
import { ARGS, alive, answers, project, trying } from "./kit.js";

const ATTEMPTS = {
  "write here": "date +%N > here",
  "write below": "mkdir -p deep/er && touch deep/er/x",
  "write to TMPDIR": "touch $TMPDIR/x && mktemp",
  "write beside": "touch ../beside",
  "write to /tmp": "touch /tmp/ralph-was-here",
  "write to the home": "touch $HOME/x",
  "write hooks": "touch .git/hooks/pre-commit",
  "write the configuration": "git config core.fsmonitor evil || git config --global a.b c",
  "move the repository": "mv .git elsewhere",
  "write files that git obeys":
    "cd $(git rev-parse --git-common-dir) && (echo x > commondir || rm commondir || echo x > config.worktree || echo x > info/attributes || mv info elsewhere)",
  "make what is missing":
    "mkdir .vscode/x || touch .husky/x || touch .idea/x || echo x > .ralph-active || echo x > ralph/allowed-commands.txt || mv ralph elsewhere || rmdir .vscode",
  "write what other agents and editors obey": `for f in .gemini/settings.json .codex/config.toml .opencode/plugin/x.js .cursor/mcp.json .amp/x .agents/x .zed/tasks.json \
        .devcontainer/devcontainer.json opencode.jsonc/x; do mkdir -p $(dirname $f); touch $f && exit; done
      rmdir opencode.jsonc || echo {} > opencode.json || mv opencode.json x`,
  "write .claude": "touch .claude/settings.json || mkdir .claude/commands",
  "move .claude": "mv .claude elsewhere || rm -r .claude",
  "write settings": "echo {} > .ralph/settings.json || mv .ralph r",
  "write records": "touch $RALPH_HOME/x || rm -rf $RALPH_HOME/runs/*",
  "write .mcp.json": "echo {} > .mcp.json",
  "read a key": "cat $HOME/.ssh/id || ls $HOME/.ssh/id",
  "read a login": "cat $HOME/.aws/credentials || cat $HOME/.npmrc || cat $HOME/.codex/auth.json",
  "read passwords": "cat /etc/shadow",
  "find a pipe of a worker": "test -e $RALPH_HOME/pipes/pipe",
  "see processes": "kill -0 $OUTER",
  "lift a protection":
    "umount -l .git/hooks || mount -o remount,rw,bind .ralph || unshare -Urm umount -l .ralph || mount --bind / deep",
  "steer the kernel": `k=sys/kernel/core_pattern; v=$(cat /proc/$k)
    set_it() { echo "$v" > $1/$k; }
    set_it /proc || (umount -l /proc/sys; set_it /proc) || (mount -o remount,bind,rw /proc/sys && set_it /proc) ||
      (mkdir -p deep/proc && mount -t proc proc deep/proc && set_it deep/proc) ||
      unshare -Urmpf sh -c "mount -t proc proc deep/proc && echo $v > deep/proc/$k"`,
  "say where git pushes to":
    "cd $(git rev-parse --git-common-dir) && (touch remotes/origin || touch branches/origin || mv remotes x || mv branches x)",
  "use what ralph inherited": "touch /proc/self/fd/20/beside",
  "share memory": '[ "$(readlink /proc/self/ns/ipc)" = "$OUTER_IPC" ]',
  commit: "git add -A && git commit -qm work",
};

const YES = ["write here", "write below", "write to TMPDIR", "commit"];
const EXPECTED = Object.fromEntries(
  Object.keys(ATTEMPTS).map((name) => [name, YES.includes(name) ? "yes" : "no"]),
);

/** Of this process. */
const OUTER = { OUTER: String(process.pid), OUTER_IPC: readlinkSync("/proc/self/ns/ipc") };

describe("what an agent can do in srt", () => {
  it("is to work in its folder, and nothing else", async () => {
    const p = project(trying(ATTEMPTS));
    for (const file of [".mcp.json", "opencode.json"]) p.write(file, "{}");
    const { result } = p.start([...ARGS, "--json"], { env: OUTER });
    const { code, stderr, ...rest } = await result;
    expect({ code, answers: answers(rest) }).toEqual({ code: 0, answers: EXPECTED });
    expect(stderr.split("\n")[0]).toBe(
      "ralph: sandbox: srt (the agent writes in this folder and a temporary one, reads no keys and logins, reaches no host)",
    );
    expect(p.sh("git log -1 --format=%s; git status --short").trim()).toBe("work");
    const left = readdirSync(p.root).filter((name) => /sandbox|sock/.test(name));
    const places =
      ".claude .gemini .codex .opencode opencode.jsonc .cursor .vscode .idea .husky .ralph-active ralph";
    const inGit = "commondir config.worktree info/attributes remotes objects/info/alternates";
    const all = [...places.split(" "), ...inGit.split(" ").map((name) => `.git/${name}`)];
    expect({ left, places: all.filter(p.exists) }).toEqual({ left: [], places: [] });
  });

  it("is the same in a worktree, whose repository lies elsewhere", async () => {
    const p = project(trying(ATTEMPTS));
    const { code, ...rest } = await p.ralph(...ARGS, "--json", "--worktree", "w");
    const { "see processes": _, "write .mcp.json": __, ...expected } = EXPECTED;
    expect({ code, answers: answers(rest) }).toMatchObject({ code: 0, answers: expected });
    expect(p.sh("git log -1 --format=%s ralph/w").trim()).toBe("work");
  });

  it.skipIf(process.getuid?.() !== 0)("is the same for a user who is not root", async () => {
    const p = project(trying(ATTEMPTS));
    p.program("as-nobody", '#!/bin/sh\nexec setpriv --reuid nobody --regid nogroup --clear-groups "$@"\n');
    p.sh(`chmod 755 ${p.root}; chown -R nobody ${p.root}; git config --global --add safe.directory '*'`);
    const bin = join(import.meta.dirname, "../../../bin/ralph.js");
    const out = p.sh(
      `exec 20< ..; as-nobody node ${bin} ${ARGS.map((word) => `'${word}'`).join(" ")} --json 2>/dev/null`,
    );
    const events = out
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Result["events"][number]);
    const { "see processes": _, "write .mcp.json": __, ...expected } = EXPECTED;
    expect(answers({ events })).toMatchObject(expected);
  });

  it.each([
    {
      what: "a repository that git outside would obey",
      tries: { init: "git init -q . && git config a.b c", write: "touch x" },
      begin: "rm -rf .git",
      answers: { init: "no", write: "yes" },
      absent: ".git",
    },
    {
      what: "a folder of hooks that the configuration names",
      tries: { hooks: "mkdir -p .config/githooks && touch .config/githooks/pre-commit" },
      begin: "git config core.hooksPath .config/githooks",
      answers: { hooks: "no" },
      absent: ".config",
    },
    {
      what: "a folder in place of a link",
      tries: { link: "rm .claude && mkdir .claude" },
      begin: "ln -s nowhere .claude",
      answers: { link: "yes" },
      message: "the agent has replaced",
      absent: ".claude",
    },
    {
      what: "configuration that git takes in from the folder",
      tries: { there: "echo x > .gitconfig || mv .gitconfig x", missing: "echo x > more.config" },
      begin:
        "touch .gitconfig; for f in .gitconfig more.config; do git config --add include.path ../$f; done",
      answers: { there: "no", missing: "yes" },
      message: "the agent has made",
      absent: "more.config",
    },
  ])("is not to make $what", async ({ tries, begin, answers: expected, message, absent }) => {
    const p = project(trying(tries));
    p.sh(begin);
    const { code, finished, ...rest } = await p.ralph(...ARGS, "--json");
    expect({ code, answers: answers(rest), there: existsSync(join(p.dir, absent)) }).toEqual({
      code: message === undefined ? 0 : 1,
      answers: expected,
      there: false,
    });
    if (begin.startsWith("ln ")) expect(readlinkSync(join(p.dir, absent))).toBe("nowhere");
    if (message !== undefined)
      expect(finished).toMatchObject({
        reason: "error",
        message: expect.stringContaining(`${message} ${join(p.dir, absent)}`),
      });
  });

  it("is not to lead ralph's git outside by links in the repository", async () => {
    const planted =
      "ln -sf $HOME/.profile .git/COMMIT_EDITMSG; ln -sf $HOME/.bashrc .git/logs/HEAD; date > new";
    const p = project(`cat > /dev/null; ${planted}; echo '<response>DONE</response>'`);
    p.settings({ scm: { command: "git", tasks: ["commit"] } });
    const { code, stdout } = await p.ralph(...ARGS);
    expect({ code, made: readdirSync(p.home).filter((name) => /profile|bashrc/.test(name)) }).toEqual({
      code: 1,
      made: [],
    });
    expect(stdout).toContain("where git outside of the sandbox would write");
    expect(p.sh("find .git -type l")).toBe("");
  });

  it("is not to be run by ralph in place of its own programs and files", async () => {
    const p = createProject();
    const pwned = join(p.root, "pwned");
    const evil = `#!/bin/bash\ntouch ${pwned}\n`;
    const programs = ["git", "bwrap", "rg", "socat"];
    p.write(
      "agent",
      `#!/bin/bash
cat > /dev/null
mkdir -p node_modules/.bin
for name in ${programs.join(" ")}; do printf '${evil}/usr/bin/'$name' "$@"' > node_modules/.bin/$name; done
printf '#!/bin/sh\necho mine' > node_modules/.bin/mine
/usr/bin/chmod +x node_modules/.bin/*
printf 'touch ${pwned}' > start-up
for call in 2 3 4; do ln -s ${pwned} \${TMPDIR%-tmp}/start-$call || ln -s ${pwned} \${TMPDIR%/tmp}/start-$call; done
echo "found: $(mine)" >> found; date +%N > new; echo working`,
    );
    p.sh("chmod +x agent; mkdir tmp");
    const env = {
      PATH: `${join(p.dir, "node_modules/.bin")}:.:${p.env["PATH"]}`,
      BASH_ENV: join(p.dir, "start-up"),
      TMPDIR: join(p.dir, "tmp"),
    };
    await p.start([...ARGS.slice(0, 7), "-n", "2", "--max-failures", "3"], { env }).result;
    expect({ found: p.read("found"), pwned: existsSync(pwned) }).toEqual({
      found: "found: mine\nfound: mine\n",
      pwned: false,
    });
  });

  it("is not to be asked outside what flags it has, where it lies in the project", async () => {
    const p = createProject();
    const codex = "touch ../beside; echo said >> asked; cat > /dev/null; echo '{}'";
    chmodSync(p.write("tools/codex", `#!/bin/bash\n${codex}\n`), 0o755);
    await p.ralph(...ARGS.map((word) => word.replace("./agent", "tools/codex")));
    expect([p.read("asked").split("\n").length > 2, existsSync(join(p.root, "beside"))]).toEqual([
      true,
      false,
    ]);
  });

  it.each([
    [{ allowWrite: ["/proc/x/y"] }, "allowWrite: /proc/x/y is missing and cannot be made: ENOENT"],
    [{ denyRead: ["hidden", "/"] }, "denyRead: / holds the project itself"],
    [{ denyRead: [".git"] }, ".git holds the repository itself"],
    [{ denyWrite: [".."] }, "denyWrite: "],
    [{ allowWrite: ["~/.ssh"] }, "/.ssh is among what must not be read"],
    [{ allowWrite: ["../more"], denyWrite: ["../more"] }, "more is among what denyWrite names"],
    [{ allowWrite: ["link/x"], denyWrite: ["../more"] }, "link/x is among what denyWrite names"],
    [{ allowWrite: [".claude/skills"] }, "skills is among what no agent may write"],
    [{ allowWrite: ["~/.ralph/runs"] }, "runs is among what no agent may write"],
  ])("does not begin where the settings make no sense: %j", async (filesystem, why) => {
    const p = project("");
    p.sh("mkdir -p src && echo x > src/a && git add src && git commit -qm src");
    p.sh("ln -s ../more link");
    p.settings({ sandbox: { filesystem } });
    const { code, stdout, stderr } = await p.ralph(...ARGS);
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: "", stderr: expect.stringContaining(why) });
    expect(existsSync(join(p.home, ".ralph/runs"))).toBe(false);
  });

  it("is to read nothing of hidden checks", async () => {
    const tries = {
      script: "cat ../apart/check.sh",
      beside: "cat ../apart/data.txt",
      settings: "cat .ralph/settings.local.json",
      logs: "ls $RALPH_HOME/hidden/*",
      project: "cat agent",
    };
    const p = project(trying(tries));
    p.write("../apart/check.sh", "exit 0");
    p.write("../apart/data.txt", "x");
    p.write(".ralph/settings.local.json", '{"hiddenChecks":["test -d ."]}');
    const { code, ...rest } = await p.ralph(...ARGS, "--json", "--hidden-check", "sh ../apart/check.sh");
    expect({ code, answers: answers(rest) }).toEqual({
      code: 0,
      answers: { script: "no", beside: "no", settings: "no", logs: "no", project: "yes" },
    });
  });

  it("is what the settings say", async () => {
    const tries = {
      allowed: "touch ../more/x ../made/x",
      hidden: "cat hidden",
      kept: "echo > kept",
      other: "touch x",
    };
    const p = project(trying(tries));
    mkdirSync(join(p.root, "more"));
    for (const name of ["hidden", "kept"]) p.write(name, "x");
    p.settings({
      sandbox: {
        kind: "srt",
        filesystem: { allowWrite: ["../more", "../made"], denyRead: ["hidden"], denyWrite: ["kept"] },
      },
    });
    const { code, stderr, ...rest } = await p.ralph(...ARGS.slice(0, 5), "-n", "1", "--json");
    expect({ code, answers: answers(rest) }).toEqual({
      code: 0,
      answers: { allowed: "yes", hidden: "no", kept: "no", other: "yes" },
    });
    expect(stderr).toContain(
      "the agent writes in this folder, a temporary one, ../more and ../made, reads no",
    );
  });
});

describe("the network of srt", () => {
  const servers: Server[] = [];
  const ports: number[] = [];
  beforeEach(async () => {
    for (const name of ["listed", "unlisted"]) {
      const server = createServer((_, response) => response.end(name));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      servers.push(server);
      ports.push((server.address() as AddressInfo).port);
    }
  });
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
    ports.splice(0);
  });

  it("has the hosts that are listed, and no others", async () => {
    const get = (port: string, flags = "") => `curl -sf -m 3 ${flags} http://127.0.0.1:${port}/`;
    const p = project(
      trying({
        listed: get("$LISTED"),
        "listed by name": "curl -sf -m 3 http://localhost:$LISTED/",
        unlisted: get("$UNLISTED"),
        "unlisted by the proxy": get("$UNLISTED", "--noproxy ''"),
        elsewhere: "curl -sf -m 3 http://example.invalid/ || curl -sf -m 3 http://10.255.255.1/",
        directly: "timeout 2 bash -c 'exec 3<>/dev/tcp/10.255.255.1/80'",
        sockets: `node -e 'require("net").connect("/run/x.sock").on("error",(e)=>process.exit(e.code==="EPERM"?1:0))'`,
      }),
    );
    p.settings({ sandbox: { network: { allow: [`127.0.0.1:${ports[0]}`] } } });
    const env = { LISTED: String(ports[0]), UNLISTED: String(ports[1]) };
    const { code, ...rest } = await p.ralphWith({ env }, ...ARGS, "--json");
    expect({ code, answers: answers(rest) }).toEqual({
      code: 0,
      answers: {
        listed: "yes",
        "listed by name": "yes",
        unlisted: "no",
        "unlisted by the proxy": "no",
        elsewhere: "no",
        directly: "no",
        sockets: "no",
      },
    });
  });

  it("is named by the hosts that it refused, when the agent has failed", async () => {
    const p = project("cat > /dev/null; curl -s -m 3 http://model.example.invalid/v1; exit 7");
    const { code, events } = await p.ralph(...ARGS, "--json");
    const ended = events.find((event) => event.type === "agent.finished");
    expect({ code, error: ended?.error }).toEqual({
      code: 1,
      error:
        "exit code 7 (the sandbox refused to let it reach model.example.invalid: sandbox.network.allow in the settings adds hosts)",
    });
  });

  it("has the loop's own hook server, and the provider that a variable names", async () => {
    const p = createProject();
    // What Claude Code does with the hooks it is given.
    p.program(
      "claude",
      `#!/usr/bin/env node
const { readFileSync } = require("node:fs");
readFileSync(0);
const at = process.argv.indexOf("--settings");
const given = process.argv[at + 1];
const settings = JSON.parse(given.startsWith("{") ? given : readFileSync(given, "utf8"));
const [hook] = settings.hooks.PostToolUse[0].hooks;
const token = Object.entries(hook.headers)[0];
const value = token[1].replace(/\\$\\{?(\\w+)\\}?/, (_, name) => process.env[name]);
(async () => {
  const asked = await fetch(hook.url, { method: "POST", headers: { [token[0]]: value }, body: "{}" });
  const model = await fetch(process.env.ANTHROPIC_BASE_URL);
  const result = "hook " + asked.status + ", model " + (await model.text()) + " <response>DONE</response>";
  console.log(JSON.stringify({ type: "result", subtype: "success", is_error: false, result }));
})();
`,
    );
    const env = { ANTHROPIC_BASE_URL: `http://127.0.0.1:${ports[0]}`, IS_SANDBOX: "" };
    const args = ["run", "-p", "x", "--agent", "claude", "--sandbox", "srt", "-n", "1", "--json"];
    const { code, events, stderr } = await p.ralphWith({ env }, ...args);
    const said = events.find((event) => event.type === "agent.finished");
    expect({ code, said, stderr }).toMatchObject({
      code: 0,
      said: { finalMessage: "hook 200, model listed <response>DONE</response>" },
    });
  });
});

describe("the end of an agent in srt", () => {
  it.each([
    ["an exit code", "exit 7", { exitCode: 7, signal: null, error: "exit code 7" }],
    ["a signal", "kill -SEGV $$", { exitCode: null, signal: "SIGSEGV", error: "killed by SIGSEGV" }],
  ])("comes through: %s", async (_, script, expected) => {
    const p = project(`cat > /dev/null; ${script}`);
    const { events } = await p.ralph(...ARGS, "--json");
    expect(events.find((event) => event.type === "agent.finished")).toMatchObject(expected);
  });

  const WAITING = `cat > /dev/null
trap 'echo told > told; exit 5' TERM
setsid sleep 1000 & sleep 1000 &
(nohup setsid sh -c 'sleep 1000 & sleep 1000' > /dev/null 2>&1 &)
touch ready; wait`;

  it("comes with SIGTERM first, and takes all its children along", async () => {
    const p = project(WAITING);
    const run = p.start(ARGS, { env: { OWNER: p.root } });
    await eventually(() => p.exists("ready"));
    expect(alive(p).length).toBeGreaterThan(4);
    run.child.kill("SIGTERM");
    await run.until((output) => output.includes("a second signal ends it now"));
    run.child.kill("SIGTERM");
    const { code } = await run.result;
    expect({ code, told: p.exists("told"), alive: alive(p) }).toEqual({ code: 130, told: true, alive: [] });
  });

  it.each(["ralph", "the sandbox's helper"])(
    "comes with the end of %s by kill -9, and nothing is left",
    async (who) => {
      const p = project(WAITING);
      const run = p.start([...ARGS, "--json"], { env: { OWNER: p.root } });
      await eventually(() => p.exists("ready"));
      const isHelper = (pid: string): boolean =>
        readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("srt-helper");
      if (who === "ralph") run.child.kill("SIGKILL");
      else {
        process.kill(Number(alive(p).find(isHelper)), "SIGKILL");
        const { code, finished } = await run.result;
        const message = expect.stringContaining("its helper ended with SIGKILL");
        expect({ code, finished }).toMatchObject({ code: 1, finished: { reason: "error", message } });
      }
      await eventually(() => alive(p).length === 0);
      expect(readdirSync(p.root).filter((name) => /sandbox|sock/.test(name))).toEqual([]);
      expect([".claude", ".gemini", ".vscode", ".git/commondir"].filter(p.exists)).toEqual([]);
    },
  );
});

describe("checks", () => {
  it.each([
    [false, true],
    [true, false],
  ])("with sandbox.checks %s can write elsewhere: %s", async (checks, can) => {
    const p = project("cat > /dev/null; echo '<response>DONE</response>'");
    p.settings({ sandbox: { checks } });
    const { events } = await p.ralph(...ARGS, "--json", "--check", "touch ../beside");
    const check = events.find((event) => event.type === "check.finished");
    expect({ check, beside: existsSync(join(p.root, "beside")) }).toMatchObject({
      check: { passed: can },
      beside: can,
    });
  });
});
