import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { splitWords } from "../../src/words.js";
import { createProject, type Project } from "../kit.js";

const SETTINGS = { agent: { command: "claude" } };

function project() {
  const p = createProject();
  p.settings(SETTINGS);
  p.agent([{ text: "<response>DONE</response>" }]);
  p.write("P.md", "x");
  p.write("empty.md", " \n");
  p.write("token", "a long secret of mine\n");
  p.write("typo.yaml", "ralph_loop:\n  max_iteration: 2\n");
  p.write(".ralph/pipeline.yaml", "states:\n  A: { command: x }\n");
  p.sh("printf 'a\\0b' > nul.bin; mkfifo pipe; chmod 600 token");
  return p;
}

/** What was typed, and what is said of it. */
const WRONG: [line: string, message: string][] = [
  ["run", 'no prompt was given (say what to do: ralph run "TEXT", -f FILE, or - for stdin)'],
  ["run a -p b", "TEXT and --prompt exclude each other (give one of them)"],
  ["run a -f -", "TEXT and --prompt-file exclude each other"],
  ["loop -p a -f P.md --check true", "--prompt and --prompt-file exclude each other"],
  ["loop -f P.md --spec P.md --check true", "--spec and --prompt-file exclude each other"],
  ["run a -q -V", "--quiet and --verbose contradict each other (give one of them)"],
  ["run a -q --quiet", "-q, --quiet was given twice (give --quiet once)"],
  ["run a --worktree --worktree b", "--worktree was given twice"],
  ["run a --worktree b --worktree c", '--worktree was given twice: "b" and "c"'],
  ["run a --sandbox srt --no-sandbox", "--sandbox and --no-sandbox contradict each other"],
  ["run a --no-wait-for-limits --max-limit-wait 3h", "--no-wait-for-limits and --max-limit-wait contradict"],
  ["stories run -m a --model b", '-m and --model are the same, and both were given: "a" and "b"'],
  ["run fix the tests", "too many arguments for 'run'. Expected 1 argument but got 3 (put a text of several"],
  ["spawn --name w --prompt-file - -n 1 -- cat", "--prompt-file -: ralph reads this file before each"],
  ["stop", "unknown command 'stop' (ralph pause lets the agent finish and then waits, ralph kill ends"],
  ["history", "unknown command 'history' (ralph runs lists the runs)"],
  ["update", "unknown command 'update' (npm install -g ralph-loop@latest updates ralph)"],
  ["merge", "unknown command 'merge' (ralph land brings the work of a run into your branch)"],
  ["list", "unknown command 'list' (ralph ls lists what is running and the workers, ralph runs"],
  ["cost", "unknown command 'cost' (ralph costs shows what the agents cost"],
  ["dashboard", "unknown command 'dashboard' (ralph ui shows all runs in a browser"],
  ["help abort", "unknown command 'abort' (ralph kill ends the run now"],
  ["'fix the tests'", "unknown command 'fix the tests' (did you mean: ralph run 'fix the tests')"],
  ["stories list", "unknown command 'list' (did you mean: ralph stories status)"],
  ["pipeline continue", "unknown command 'continue' (did you mean: ralph pipeline resume)"],
  ["pipeline foo", "unknown command 'foo' (its commands are run, resume, status, init)"],
  ["run -p a -f P.md", "--prompt and --prompt-file exclude each other"],
  ["run -p ''", "the prompt is empty"],
  ["run -f empty.md", "the prompt file is empty: empty.md"],
  ["run -f /dev/null", "cannot read prompt file: /dev/null (it is not a plain file)"],
  ["run -p a --check ''", '--check "": expected text'],
  ["run -p a -c ' '", '--completion-response "": expected text'],
  ["run -f nope.md", "prompt file not found: nope.md"],
  ["run -f .", "cannot read prompt file: . (it is a directory)"],
  ["rnu", "unknown command 'rnu' (Did you mean run?)"],
  ["run -p a --max-iteration 5", "unknown option '--max-iteration' (Did you mean --max-iterations?)"],
  ["run -p", "option '-p, --prompt <text>' argument missing"],
  ["run -p a -m 0", "--max-iterations 0: expected a whole number of at least 1"],
  ["run -p a -n 1.5", "--max-iterations 1.5"],
  ["run -p a --max-cost free", "--max-cost free: expected an amount in USD"],
  ["run -p a --max-time soon", "--max-time soon: expected a duration"],
  ["run -p a --iteration-timeout -5", "--iteration-timeout -5: expected a duration"],
  ["run -p a --inactivity-timeout x", "--inactivity-timeout x"],
  ["run -p a --stuck-after -1", "--stuck-after -1"],
  ["run -p a --done-pattern '('", "--done-pattern (: expected a regular expression"],
  ["run -p a --agent clade", "agent not found: clade (did you mean claude?"],
  ['run -p a --agent "claude \'x"', "cannot split into words: claude 'x"],
  ["run -p a --agent cat --model x", "agent cat takes no --model"],
  ["run -p a -C no.json", "cannot read settings file no.json: no such file"],
  ["resume 2026", "no worker or run is called 2026 (ralph ls lists the workers, ralph runs the runs)"],
  ["resume", "no unfinished run in"],
  [
    "-p 'fix it' --check 'npm test'",
    "a command is missing before -p (did you mean: ralph run -p 'fix it' --check 'npm test')",
  ],
  ["--lines 5", "a command is missing before --lines (did you mean: ralph logs"],
  [
    "loop '- fix it' --check true",
    "unknown option '- fix it' (put a text that begins with - after --, behind the flags: ralph loop … -- '- fix it')",
  ],
  ["answer r -yes", "unknown option '-yes' (put a text that begins with -"],
  [
    "loop --worktree 'fix it' --check true",
    'no task was given (--worktree took "fix it" for its own value; if that is the task, put it first: ralph loop "fix it" --worktree)',
  ],
  [
    "pipeline run --worktree spec.md",
    "missing required argument 'spec-file' (--worktree took \"spec.md\" for its own value; put it before --worktree)",
  ],
  ["run -f ''", '-f, --prompt-file "": expected the name of a file'],
  ["spawn --name w --cwd ''", '--cwd "": expected the name of a folder'],
  ["run -p a --max-cost 5 --max-cost 10", '--max-cost was given twice: "5" and "10" (give --max-cost once)'],
  [
    "run -p a -n 1 -m 2",
    '-n, --max-iterations and -m, --maximum-iterations are the same, and both were given: "1" and "2" (give one of them)',
  ],
  ["loop t --check true --agent=a --agent b", "--agent was given twice"],
  ["spawn --prompt-via keys --prompt-via stdin", "--prompt-via was given twice"],
  ["loop t", "no check was given, and a check decides when the work is done (add --check"],
  ["loop t --check true --check ' '", '--check "": expected text'],
  ["loop --check true", "no task was given"],
  ["loop fix it --check true", "too many arguments for 'loop'"],
  ["loop t --check true -n 101", "--max-iterations 101: expected a whole number from 1 to 100"],
  ["loop t --check true --check-timeout 0", "--check-timeout 0: expected a duration"],
  ["loop t --check true --completion-tag ' '", '--completion-tag "": expected text'],
  ["loop t --check true --completion-tag 'a\nb'", '--completion-tag "a\\nb": expected one line'],
  ["loop t --check true --spec nope.md", "spec file not found: nope.md"],
  ["loop t --check true --spec empty.md", "the spec file is empty: empty.md"],
  ["loop t --check true --spec nul.bin", "cannot read spec file: nul.bin (it is not a text file in UTF-8)"],
  ["loop t --check true --spec pipe", "cannot read spec file: pipe (it is not a plain file)"],
  ["loop t --check true -c nope.yaml", "cannot read settings file nope.yaml: no such file"],
  [
    "loop t --check true -c typo.yaml",
    'typo.yaml: unknown key "ralph_loop.max_iteration" (did you mean "max_iterations"?)',
  ],
  ["loop t --check '# npm test'", "--check # npm test: expected a command, and this is a comment"],
  ["run -p x --max-limit-wait soon", "--max-limit-wait soon: expected a duration"],
  ["run -p x --max-limit-wait 0", "--max-limit-wait 0: expected a duration"],
  ["run -p x --fallback-agent nobody", "agent not found: nobody"],
  ["run -p x --fallback-agent ''", '--fallback-agent "": expected text'],
  ["run -p x --escalate-model ' '", '--escalate-model "": expected text'],
  ["run -p x --agent cat --escalate-model opus", "agent cat takes no --model"],
  ["answer nobody x", "no worker or run is called nobody"],
  ["answer nobody ''", 'TEXT "": expected text'],
  ["answer", "missing required argument 'text'"],
  ["answer yes", "no run in"],
  ["pipeline run", "missing required argument 'spec-file'"],
  ["pipeline run none.md", "spec not found: none.md"],
  ["pipeline run P.md --max-gate-retries x", "--max-gate-retries x: expected a whole number of at least 0"],
  ["pipeline run P.md --retries 3", "unknown option '--retries'"],
  ["pipeline resume", "no unfinished pipeline in"],
  ["pipeline status", "no pipeline in"],
  ["pipeline init", ".ralph/pipeline.yaml already there (--force overwrites)"],
  ["gate stres-test P.md", "unknown gate 'stres-test' (did you mean stress-test?)"],
  ["gate check none.md", "PRP not found: none.md"],
  ["gate check .ralph", "cannot read PRP: .ralph (it is a directory)"],
  ["gate check", "missing required argument 'file'"],
  ["gate check-tests P.md --tests none", "no such folder or file: --tests none"],
  ["gate check-tests P.md --timeout soon", "--timeout soon: expected a duration"],
  ["guard ' '", "the command is empty (for example: ralph guard"],
  ["guard", "missing required argument 'command'"],
  ["guard npm test", "too many arguments for 'guard'"],
  ["guard ls --jsn", "unknown option '--jsn' (Did you mean --json?)"],
  ["doctor claude", "too many arguments for 'doctor'"],
  [
    "loop t --check true --report json --json",
    "--json and --report both want stdout (give --report-file FILE)",
  ],
  ["loop t --check true --report html", "--report html: expected one of json, markdown, github"],
  ["loop t --check true --report-file ''", '--report-file "": expected the name of a file'],
  ["loop t --check true --report-file .", "--report-file .: expected a file, and this is a folder"],
  ["run a --name last", "--name last is taken (last means the latest run; choose another name)"],
  ["run a --name 'a b'", '--name "a b" is not a valid name (letters, digits, - and _, at most 64'],
  ["run a --hidden-check ''", '--hidden-check "": expected a command'],
  ["run a --hidden-check '# nothing'", "a hidden check cannot run: its command is a comment"],
  ["run a --hidden-check 'sh /no/x.sh'", "a hidden check cannot run: its file is missing: /no/x.sh"],
  ["run a --hidden-check /usr", "a hidden check cannot run: it is a folder: /usr"],
  ["run a --hidden-check 'no-such x'", "a hidden check cannot run: no-such is not on PATH"],
  ["config set maxIterations 0", ".ralph/settings.json: maxIterations has 0: expected at least 1"],
  ["config set budget 3", 'unknown key "budget" (did you mean "maxCost"?)'],
  ["config get agent.modl", 'unknown key "agent.modl" (did you mean "model"?)'],
  ["config set maxCost 5 --user --local", "--user and --local exclude each other"],
  ["verify nothing", "no worker or run is called nothing"],
  ["verify no/such.json", "no such file: no/such.json"],
  ["verify . --repo /", "--repo /: expected a folder of a git repository"],
  ["init", "ralph init asks questions and needs a terminal (ralph init --yes writes the defaults without"],
  ["init --force", "--force needs --prompt or --yes (without flags, ralph init asks for each setting)"],
  ["init --agent x", "--agent needs --yes"],
  ["runs --since yesterday", "--since yesterday: expected"],
  ["runs -n 0", "-n 0: expected"],
  ["runs --status happy", "--status happy: expected"],
  ["report", "no run in"],
  ["report nobody", "no worker or run is called nobody (ralph ls lists the workers, ralph runs the runs)"],
  [
    "report --json --html x.html",
    "--json and --html exclude each other (give one of them, or none for text)",
  ],
  ["watch", "ralph watch needs a terminal (ralph ls prints the same once)"],
  ["completion", "no shell was given: expected bash, zsh, fish (ralph completion --help)"],
  ["completion bsh", "unknown shell bsh: expected bash, zsh, fish (did you mean bash?)"],
  ["completion toString", "unknown shell toString: expected bash, zsh, fish"],
  ["completion bash zsh", "too many arguments for 'completion'. Expected 1 argument but got 2."],
  ["ui --port x", "--port x: expected a whole number from 0 to 65535"],
  ["ui --port 70000", "--port 70000: expected a whole number from 0 to 65535"],
  ["ui --host 0.0.0.0", "--host 0.0.0.0 lets other machines in, which needs --token-file"],
  ["ui --host ::", "--host :: lets other machines in, which needs --token-file"],
  ["ui --host 198.51.100.77 --port 0 --token-file token", "port 0 of 198.51.100.77 cannot be had"],
  ["ui --token-file missing", "--token-file missing: expected a file that is there"],
  ["ui --token-file .", "--token-file .: expected a file that is there"],
  ["ui --token-file pipe", "cannot read pipe: it is not a plain file"],
  ["ui --token-file empty.md", "--token-file empty.md: expected a secret of at least 16 characters in it"],
  ["ui --token-file P.md", "--token-file P.md: expected a secret of at least 16 characters in it"],
  ["loop t --check true --report-file r.html", "--report-file r.html: expected a .json or .md file"],
];

describe("wrong input", () => {
  it("is one line that says what to do, exit 2, and starts nothing", async () => {
    const p = project();
    for (const [line, message] of WRONG) {
      const { code, stdout, stderr } = await p.ralph(...splitWords(line));
      expect.soft([code, stdout, stderr], line).toEqual([2, "", expect.stringMatching(/^.+\n$/)]);
      expect.soft(stderr).toContain(`ralph: error: ${message}`);
    }
    expect([p.calls(), p.sh("ls $RALPH_HOME/runs 2>/dev/null || true")]).toEqual([0, ""]);
  });

  const settings = (value: object) => (p: Project) => p.settings(value);
  const scm = (command: string) => ({ ...SETTINGS, scm: { command, tasks: ["commit"] } });

  it.each<[what: string, prepare: (p: Project) => unknown, message: string]>([
    [
      "an unknown key",
      settings({ maximumIteration: 3 }),
      '.ralph/settings.json: unknown key "maximumIteration" (did you mean "maxIterations"?)',
    ],
    [
      "malformed JSON",
      (p) => p.write(".ralph/settings.json", '{\n  "agent":\n}'),
      "malformed settings file .ralph/settings.json: unexpected } at line 3, column 1",
    ],
    ["a list", settings([]), ".ralph/settings.json: the file has []: expected an object"],
    [
      "an agent that is not executable",
      settings({ agent: { command: "./P.md" } }),
      "agent is not executable: DIR/P.md (chmod +x DIR/P.md)\n",
    ],
    [
      "several known agents on PATH, and none in the settings",
      (p) => {
        p.settings({});
        p.agent([], { name: "codex" });
      },
      "no agent is configured, and several are on PATH: claude, codex (choose one with --agent NAME, or as agent.command in .ralph/settings.json)\n",
    ],
    [
      "SCM without a repository",
      (p) => {
        p.settings(scm("git"));
        p.sh("rm -r .git");
      },
      "not a git repository: DIR (scm in the settings needs one: run git init, or set scm to null)\n",
    ],
    [
      "an scm command that is not there",
      settings(scm("hgx")),
      "scm command not found: hgx (install it, or change scm.command in the settings)\n",
    ],
    [".ralph as a file", (p) => p.sh("rm -r .ralph; touch .ralph"), ".ralph is not a folder: DIR/.ralph"],
    [
      "a home that cannot be written to",
      (p) => (p.env["RALPH_HOME"] = join(p.dir, "P.md/home")),
      "set RALPH_HOME to another folder",
    ],
  ])("%s is told before anything starts", async (_, prepare, message) => {
    const p = project();
    prepare(p);
    const { code, stderr } = await p.ralph("run", "-p", "a");
    expect([code, stderr, p.calls()]).toEqual([2, expect.stringMatching(/^ralph: error: .+\n$/), 0]);
    expect(stderr.replaceAll(p.dir, "DIR")).toContain(message);
  });

  it.runIf(process.getuid?.() === 0)("Claude Code as root is refused with the ways out", async () => {
    const p = project();
    const { code, stderr } = await p.ralphWith({ env: { IS_SANDBOX: "" } }, "run", "-p", "a");
    expect({ code, calls: p.calls() }).toEqual({ code: 2, calls: 0 });
    expect(stderr).toMatch(
      /does not skip permissions when it runs as root \(.*another user.*IS_SANDBOX=1.*edits/,
    );
  });
});

it("ralph completion names the shell that seems to be in use", async () => {
  const { stderr } = await project().ralphWith({ env: { SHELL: "/usr/bin/zsh" } }, "completion");
  expect(stderr).toContain("(yours seems to be zsh: ralph completion zsh)");
});

describe("help and version", () => {
  it.each([[["--version"]], [["-v"]]])("%s prints the version alone", async (args) => {
    const { code, stdout } = await createProject().ralph(...args);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });

  it("without a command shows the help", async () => {
    const { code, stdout } = await createProject().ralph();
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^Usage: ralph/) });
  });
});
