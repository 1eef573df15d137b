/** One call of the scripted agent. */
export interface Step {
  text?: string;
  bash?: string;
  raw?: unknown[];
  onlyRaw?: boolean;
  stderr?: string;
  sleepMs?: number;
  isError?: boolean;
  exit?: number;
  cost?: number;
  usage?: Record<string, number>;
}

/**
 * A fake agent that speaks Claude Code's stream: one step per call, the last one again and again. Beside it, it writes
 * down how often it was called, each prompt and its arguments. A shell script, because it is started thousands of times.
 */
export function scriptedAgent(steps: Step[], commit?: string): string {
  const cases = steps.map((step, index) => {
    const call = index === steps.length - 1 ? "*" : index + 1;
    return `${call})\n${saidBy(step)};;`;
  });
  return `#!/bin/sh
given=" "
for arg; do given="$given$arg "; done
case $given in *" --help "*) cat "$0.help" 2>/dev/null || echo usage; exit 0 ;; esac
case $given in *" --output-format "*) case $given in *" text "*) text=1 ;; esac ;; esac
${commit === undefined ? "" : `if [ "$text" ]; then cat >/dev/null; ${line(commit)}; exit 0; fi\n`}call=0
[ -f "$0.calls" ] && read -r call <"$0.calls"
call=$((call + 1))
cat >"$0.prompt.$call"
: >"$0.args.$call"
for arg; do printf '%s\\0' "$arg" >>"$0.args.$call"; done
echo "$call" >"$0.calls"
case $call in
${cases.join("\n")}
esac
`;
}

function saidBy(step: Step): string {
  const { text = "", isError = false, exit = 0, cost = 0.01, usage = USAGE } = step;
  const result = { type: "result", subtype: "success", is_error: isError, result: text };
  const ended = [
    ...(text === "" ? [] : [assistant({ type: "text", text })]),
    event({ ...result, total_cost_usd: cost, usage }),
  ];
  return [
    ...(step.onlyRaw ? [] : [inStream(event({ type: "system", subtype: "init", session_id: `s${CALL}` }))]),
    ...(step.bash === undefined ? [] : ranBy(step.bash)),
    ...(step.raw ?? []).map((raw) => (typeof raw === "string" ? line(raw) : event(raw))),
    ...(step.stderr === undefined ? [] : [`printf %s ${quoted(step.stderr)} >&2`]),
    ...(step.sleepMs === undefined ? [] : [`sleep ${step.sleepMs / 1000}`]),
    `if [ "$text" ]; then ${line(text)}`,
    ...(step.onlyRaw ? [] : [`else ${ended.join("\n")}`]),
    "fi",
    `exit ${exit}`,
  ].join("\n");
}

/** A command, and what it printed with what JSON does not take left out. */
function ranBy(command: string): string[] {
  const result = { type: "tool_result", tool_use_id: "t1", content: OUTPUT, is_error: STATUS };
  const escaped = String.raw`tr -d '\000-\010\013-\037' | sed 's/[\\"]/\\&/g; s/	/\\t/g; s/$/\\n/' | tr -d '\n'`;
  return [
    assistant({ type: "tool_use", id: "t1", name: "Bash", input: { command } }),
    `output=$(bash -c ${quoted(command)} </dev/null 2>&1)`,
    "[ $? = 0 ] && failed=false || failed=true",
    `[ "$output" ] && output=$(printf %s "$output" | ${escaped})`,
    event({ type: "user", message: { role: "user", content: [result] } }),
  ];
}

const USAGE = {
  input_tokens: 100,
  output_tokens: 10,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
};

/** Stand for what is known when the script runs. */
const [CALL, OUTPUT, STATUS] = ["@call@", "@output@", "@failed@"];

function assistant(content: unknown): string {
  return event({ type: "assistant", message: { id: `m${CALL}`, role: "assistant", content: [content] } });
}

function event(value: unknown): string {
  return line(JSON.stringify(value).replace(`"${STATUS}"`, STATUS))
    .replaceAll(CALL, `'"$call"'`)
    .replace(OUTPUT, `'"$output"'`)
    .replace(STATUS, `'"$failed"'`);
}

function inStream(command: string): string {
  return `[ "$text" ] || ${command}`;
}

function line(text: string): string {
  return `printf '%s\\n' ${quoted(text)}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
