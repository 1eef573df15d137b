import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { withoutCredentials } from "../../src/workspace/credentials.js";
import { claudeProject, eventually } from "../kit.js";

const DONE = "<response>DONE</response>";
const LOOKS = `{ printenv; git config --list; git remote -v; printf 'protocol=https\\nhost=github.com\\n\\n' | git credential fill; } > ../seen.txt 2>&1; git commit -q --allow-empty -m "By the agent"; true`;

describe("agents and checks", () => {
  it("see no token, no login, no credential helper and no password of a remote, and commit as the user", async () => {
    const p = claudeProject({ bash: LOOKS, text: DONE });
    Object.assign(p.env, {
      GH_TOKEN: "secret-gh",
      GITHUB_TOKEN: "secret-github",
      GITHUB_ENTERPRISE_TOKEN: "secret-e",
      RALPH_FLEET: "redis://:secret-fleet@127.0.0.1:1",
    });
    p.sh(`git config --global credential.https://github.com.helper '!echo username=u; echo password=secret-helper; true'
git config --global user.name 'some "one" \\ else'
git config --global url.https://x:secret-instead@github.com/.insteadOf https://github.com/
git config --global http.proxy http://u:proxy-pass@127.0.0.1:9
printf '[http]\n extraHeader = secret-included' > ../included
git remote add origin https://octo:secret-url@github.com/octo/demo.git
git config http.https://github.com/.extraheader "AUTHORIZATION: basic secret-header"
git config "includeif.gitdir:$PWD/.git.path" ../../included`);
    const before = readFileSync(join(p.dir, ".git/config"), "utf8");
    const check = "{ printenv; git config --list; } > ../checked.txt";
    expect(await p.ralph("run", "-p", "x", "--check", check)).toMatchObject({ code: 0 });
    for (const file of ["../seen.txt", "../checked.txt"]) {
      const seen = p.read(file);
      expect(seen).not.toMatch(/secret-/);
      expect(seen).not.toMatch(/^password=/m);
      expect(seen).toContain("https://github.com/octo/demo.git");
      expect(seen).toContain('user.name=some "one" \\ else\n');
      expect(seen).toContain("proxy-pass");
    }
    expect(p.sh("git log -1 --format=%an:%s").trim()).toBe("a:By the agent");
    expect(readFileSync(join(p.dir, ".git/config"), "utf8").replace(/\s+/g, " ")).toBe(
      before.replace(/\s+/g, " "),
    );
  });

  it("see none in a landing either, nor does the setup", async () => {
    const p = claudeProject({ bash: "echo a > a.txt", text: DONE });
    const look = (file: string): string => `{ printenv; git config --list; } > ${p.root}/${file}`;
    p.settings({ agent: { command: "claude" }, setup: look("setup.txt") });
    p.sh(
      "git add -A && git commit -qm settings && git remote add origin https://octo:secret-url@github.com/octo/demo.git",
    );
    p.env["GH_TOKEN"] = "secret-gh";
    const args = ["-p", "x", "--check", look("checked.txt"), "--worktree", "fix"];
    expect(await p.ralph("run", ...args)).toMatchObject({ code: 0 });
    expect(p.read("../setup.txt")).not.toContain("secret-gh");
    expect(await p.ralph("land", "--into", "main")).toMatchObject({ code: 0 });
    for (const file of ["../setup.txt", "../checked.txt"]) expect(p.read(file)).not.toContain("secret-");
    expect(p.sh("git remote get-url origin")).toContain("secret-url");
  });

  it("leave the password out of the settings until the last run has ended, also after kill -9", async () => {
    const p = claudeProject({ bash: "git remote get-url origin > ../seen.txt; sleep 60" }, { text: DONE });
    const address = "https://x-access-token:secret-url@github.com/octo/demo.git";
    p.sh(`git remote add origin ${address}`);
    const run = p.start(["run", "-p", "x", "--check", "true", "--json"]);
    await eventually(() => p.exists("../seen.txt"));
    run.child.kill("SIGKILL");
    await run.result;
    expect(p.sh("git remote get-url origin").trim()).toBe("https://github.com/octo/demo.git");
    expect(await p.ralph("resume")).toMatchObject({ code: 0 });
    expect(p.sh("git remote get-url origin").trim()).toBe(address);
  });
});

describe("withoutCredentials", () => {
  it("keeps settings that variables give to git, but no credentials among them", () => {
    const env = {
      GIT_CONFIG_PARAMETERS: "'http.extraheader'='x'",
      GIT_CONFIG_COUNT: "3",
      ...{ GIT_CONFIG_KEY_0: "user.name", GIT_CONFIG_VALUE_0: "a" },
      ...{ GIT_CONFIG_KEY_1: "http.extraHeader", GIT_CONFIG_VALUE_1: "AUTHORIZATION: x" },
      ...{ GIT_CONFIG_KEY_2: "url.https://u:p4ss@h/.insteadOf", GIT_CONFIG_VALUE_2: "https://h/" },
      ...{ PATH: "/bin", SSH_AUTH_SOCK: "/s", GH_TOKEN: "t", GIT_ASKPASS: "/code" },
    };
    expect(withoutCredentials(env, "/nowhere")).toEqual({
      ...{
        PATH: "/bin",
        SSH_AUTH_SOCK: "/s",
        GIT_ASKPASS: "",
        GIT_TERMINAL_PROMPT: "0",
        GH_CONFIG_DIR: "/nowhere",
      },
      ...{ GIT_CONFIG_COUNT: "2", GIT_CONFIG_KEY_0: "user.name", GIT_CONFIG_VALUE_0: "a" },
      ...{ GIT_CONFIG_KEY_1: "credential.helper", GIT_CONFIG_VALUE_1: "" },
    });
    expect(withoutCredentials({ GH_TOKEN: "t" }, "/nowhere", ["GH_TOKEN"])["GH_TOKEN"]).toBe("t");
  });

  it("keeps back tokens of forges whatever their variables are called", () => {
    const token = `ghp_${"a1".repeat(18)}`;
    const env = {
      PAT: token,
      ADDRESS: `https://x:${token}@github.com/`,
      DATABASE: "postgres://u:p@localhost/",
    };
    const { PAT, ADDRESS, DATABASE } = withoutCredentials(env, "/nowhere");
    expect([PAT, ADDRESS, DATABASE]).toEqual([undefined, undefined, "postgres://u:p@localhost/"]);
  });

  it("keeps git from logging in with what ~/.netrc has, unless the agent has a token of its own", () => {
    const home = mkdtempSync(join(tmpdir(), "ralph-netrc-"));
    writeFileSync(join(home, ".netrc"), "machine github.com\n login octo password p\n");
    const settings = (named: string[]): unknown[] => {
      const env = withoutCredentials({ HOME: home }, "/nowhere", named);
      return [0, 1, 2].map(
        (at) => env[`GIT_CONFIG_KEY_${at}`] && [env[`GIT_CONFIG_KEY_${at}`], env[`GIT_CONFIG_VALUE_${at}`]],
      );
    };
    expect(settings([])).toEqual([
      ["credential.helper", ""],
      ["http.https://github.com/.extraHeader", "Authorization:"],
      ["http.http://github.com/.extraHeader", "Authorization:"],
    ]);
    expect(settings(["GH_TOKEN"])).toEqual([["credential.helper", ""], undefined, undefined]);
    rmSync(home, { recursive: true });
  });
});
