import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";

import { createProject, type Project } from "../../kit.js";
import { ARGS, answers, project, trying } from "./kit.js";

/** Of each agent: settings that it reads, its login, whether that can be renewed, what would be obeyed outside. */
const AGENTS = {
  claude: {
    reads: ".claude/settings.json",
    login: ".claude/.credentials.json",
    renews: false,
    writes: ".claude/session-env/x/y",
    plants: ".claude/shell-snapshots/old.sh .claude/settings.json .claude.json .claude/agents/x.md".split(
      " ",
    ),
  },
  codex: {
    reads: ".codex/skills/mine/SKILL.md",
    login: ".codex/auth.json",
    renews: true,
    writes: ".codex/sessions/x",
    plants:
      `AGENTS.md AGENTS.override.md hooks.json config.toml skills/x/SKILL.md prompts/x.md plugins/x rules/x
      .env tmp/arg0/x bin/x unheard-of`
        .split(/\s+/)
        .map((name) => `.codex/${name}`),
  },
  gemini: {
    reads: ".gemini/settings.json",
    login: ".gemini/oauth_creds.json",
    renews: true,
    writes: ".gemini/tmp/x",
    plants: [
      ...["extensions/x/gemini-extension.json", ".env", "GEMINI.md", "commands/x.toml", "settings.json"],
      ...["policies/x.toml", "tmp/bin/rg", "trustedFolders.json"],
    ].map((name) => `.gemini/${name}`),
  },
  opencode: {
    reads: ".cache/opencode/node_modules/mine/index.js",
    login: ".local/share/opencode/auth.json",
    renews: false,
    writes: ".local/share/opencode/log/x",
    plants: `.cache/opencode/node_modules/x/index.js .cache/opencode/bin/rg .cache/opencode/package.json
      .config/opencode/opencode.json .config/opencode/AGENTS.md .config/opencode/plugin/x.js
      .config/opencode/plugins/x.js .config/opencode/command/x.md .config/opencode/node_modules/x.js
      .local/share/opencode/bin/x .local/state/opencode/x`.split(/\s+/),
  },
  amp: {
    reads: ".local/share/amp/session.json",
    login: ".local/share/amp/secrets.json",
    renews: true,
    writes: ".local/share/amp/threads/x",
    plants: [".local/share/amp/bin/x", ".config/amp/settings.json"],
  },
};

/** ralph asks for its flags outside. */
const PROGRAM = '#!/bin/bash\n[[ "$*" == *--help* ]] && exit\ncat > /dev/null';

describe("what an agent keeps in the home folder, in srt", () => {
  it.each(Object.entries(AGENTS))(
    "is a copy for the run: %s",
    async (name, { reads, login, renews, writes, plants }) => {
      const p = createProject();
      for (const path of [reads, login, ".claude/shell-snapshots/old.sh"])
        inHome(p, path, `of the user: ${path}\n`);
      p.program(
        name,
        `${PROGRAM}
cd ~
mkdir -p ${dirname(writes)}; echo written >> ${writes}
cat ${reads} ${login} ${writes} > "$OLDPWD/seen" 2>&1
for path in ${plants.join(" ")}; do mkdir -p $(dirname $path); echo evil > $path; rm -f ${reads}; done 2>/dev/null
echo renewed > ${login}; exit 1
`,
      );
      const before = files(p);
      await p.ralph("run", "-p", "x", "--agent", name, "--sandbox", "srt", "-n", "1", "--max-failures", "1");
      expect(p.read("seen")).toBe(`of the user: ${reads}
of the user: ${login}
written
`);
      expect(files(p)).toEqual({ ...before, ...(renews && { [login]: "renewed\n" }) });
    },
  );
});

describe("a repository, from a worktree in srt", () => {
  it("is to take commits on the worktree's own branch, and stays as it is otherwise", async () => {
    const common = "cd $(git rev-parse --path-format=absolute --git-common-dir)";
    const p = project(
      trying({
        commit:
          "date > new && git add -A && git commit -qm work && git commit -q --amend -m work && git gc --auto",
        index: `${common} && (echo x > index || rm index || touch index.lock)`,
        HEAD: `${common} && (echo x > HEAD || echo x > ORIG_HEAD || touch HEAD.lock)`,
        exclude: `${common} && (echo x > info/exclude || echo x > info/x || mv info x)`,
        config: `${common} && (echo x >> config || echo x > config.worktree || echo x > hooks/pre-commit)`,
        alternates: `${common}/objects/info && (echo x > alternates || rm alternates || mv ../info ../x)`,
        main: "git branch -f main HEAD || git update-ref refs/heads/main HEAD || git push -q . HEAD:main",
        "a loose branch": `git branch -f ralph/loose HEAD || (${common} && echo x > refs/heads/ralph/loose)`,
        "a packed branch": `git branch -f ralph/packed HEAD || (${common} && echo x > packed-refs)`,
        "a packed branch below": "git update-ref refs/heads/ralph/sub/packed HEAD",
        "a new branch": "git branch new || git tag new",
        "another worktree": `${common} && (echo x > worktrees/other/HEAD || touch worktrees/other/x || mkdir worktrees/x)`,
        logs: `${common} && (echo x >> logs/HEAD || echo x >> logs/refs/heads/ralph/loose)`,
      }),
    );
    p.sh("git branch -M main; git branch ralph/packed; git branch ralph/sub/packed; git pack-refs --all");
    p.sh("git branch ralph/loose; git worktree add -q ../other");
    const refs = () => p.sh("git for-each-ref --format='%(refname) %(objectname)' | grep -v ralph/w");
    const before = [refs(), p.sh("git status --short; cat .git/HEAD .git/config .git/info/exclude")];
    const { code, ...rest } = await p.ralph(...ARGS, "--json", "--worktree", "w");
    const { commit, ...others } = answers(rest);
    expect({ code, commit, done: Object.keys(others).filter((name) => others[name] !== "no") }).toEqual({
      code: 0,
      commit: "yes",
      done: [],
    });
    expect(p.sh("git log -1 --format=%s ralph/w").trim()).toBe("work");
    expect([refs(), p.sh("git status --short; cat .git/HEAD .git/config .git/info/exclude")]).toEqual(before);
  });
});

function inHome(p: Project, path: string, content: string): void {
  mkdirSync(dirname(join(p.home, path)), { recursive: true });
  writeFileSync(join(p.home, path), content);
}

/** All files in the home folder but ralph's own, with what is in them. */
function files(p: Project): Record<string, string> {
  const found = p.sh(`cd ${p.home} && find . -type f -not -path './.ralph/*'`).trim().split("\n");
  return Object.fromEntries(
    found.map((path) => [path.slice(2), readFileSync(join(p.home, path), "utf8")]).sort(),
  );
}
