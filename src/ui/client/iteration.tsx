import { useEffect, useState } from "preact/hooks";
import type { IterationDetail, IterationPage } from "../api.js";
import { Loading, Printed, Sign } from "./parts.jsx";
import { ask } from "./store.js";
import { formatDuration, money } from "./words.js";

/** What was said and found in an iteration; it is asked for when somebody unfolds it. */
export function Iteration({ run, one, isOpen }: { run: string; one: IterationPage; isOpen: boolean }) {
  const [detail, setDetail] = useState<IterationDetail | undefined>(undefined);
  const [isUnfolded, setUnfolded] = useState(isOpen);
  useEffect(() => setUnfolded(isOpen), [isOpen]);
  useEffect(() => {
    if (isUnfolded)
      void ask<IterationDetail>(
        `/api/runs/${run}/iterations/${one.iteration}${one.lane === null ? "" : `?lane=${encodeURIComponent(one.lane)}`}`,
      ).then(setDetail, () => {});
  }, [isUnfolded, run, one.iteration, one.lane, one.look, one.checks.length, one.spent]);
  const passed = one.checks.filter(({ look }) => look === "passed" || look === "same").length;
  return (
    <details
      open={isUnfolded}
      id={`iteration-${one.iteration}`}
      onToggle={({ currentTarget }) => setUnfolded(currentTarget.open)}
    >
      <summary data-row>
        <Sign look={one.look} /> <b>{one.iteration}</b>
        <span class="why">{[one.mode, one.about, one.why].filter(Boolean).join(" · ")}</span>
        <span class="took">
          {one.checks.length > 0 && `${passed}/${one.checks.length} checks · `}
          {formatDuration(one.agentMs + one.restMs)}
          {one.costUsd !== null && ` · ${money(one.costUsd)}`}
        </span>
      </summary>
      {isUnfolded &&
        (detail === undefined ? <Loading lines={3} /> : <Detail run={run} one={one} detail={detail} />)}
    </details>
  );
}

function Detail({ run, one, detail }: { run: string; one: IterationPage; detail: IterationDetail }) {
  const { iteration } = one;
  return (
    <div class="inside">
      <p class="note">
        {[one.agent, one.spent].filter(Boolean).join(" · ")} ·{" "}
        <a href={`/runs/${run}/stream/${iteration}`}>stream</a> ·{" "}
        {one.lane === null && (
          <>
            <a href={`/runs/${run}/diff/${iteration}`}>diff</a> ·{" "}
          </>
        )}
        <a href={`/runs/${run}/records/${iteration}`}>prompt and records</a>
      </p>
      {detail.error !== null && (
        <>
          <h3>The agent failed</h3>
          <Printed text={detail.error} />
        </>
      )}
      {detail.finalMessage !== "" && (
        <>
          <h3>Final message</h3>
          <Printed text={detail.finalMessage} />
        </>
      )}
      {detail.checks.length > 0 && <h3>Checks</h3>}
      {detail.checks.map(({ command, look, words, output }) => (
        <div key={command} class="check">
          <Sign look={look} /> <code>{command}</code> <span class="note">{words}</span>
          {output !== undefined && output !== "" && <Printed text={output} />}
        </div>
      ))}
      {detail.violations.map((what) => (
        <p key={what} class="why">
          <Sign look="failed" /> {what}
        </p>
      ))}
      {detail.commits.map(({ task, passed, message }) => (
        <p key={message} class="note">
          <Sign look={passed ? "passed" : "failed"} /> {task}: {message}
        </p>
      ))}
    </div>
  );
}
