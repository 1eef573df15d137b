import { useEffect, useState } from "preact/hooks";
import type { RecordPage, RunPage } from "../api.js";
import { bytes, Empty, Jump, Loading, Printed } from "./parts.jsx";
import { ask, type Place, queryOf } from "./store.js";

/** The files behind each iteration: the prompt first, what the agent sent, the logs of the checks. */
export function RecordsView({ page, place }: { page: RunPage; place: Place }) {
  const { row, iterations, records } = page;
  const last = iterations.at(-1);
  const { iteration = last?.iteration ?? 1, lane = last?.lane } = place;
  const [found, setFound] = useState<RecordPage | undefined>(undefined);
  const [isMissing, setMissing] = useState(false);
  const load = (name: string, from = ""): void => {
    const path = `/api/runs/${row.id}/iterations/${iteration}/files`;
    const file = name === "" ? path : `${path}/${encodeURIComponent(name)}`;
    void ask<RecordPage>(`${file}${queryOf({ lane })}${from}`).then(
      (answer) => {
        setFound(answer);
        setMissing(answer.files.length === 0);
      },
      () => setMissing(true),
    );
  };
  useEffect(() => {
    setFound(undefined);
    load("");
  }, [row.id, iteration, lane]);
  return (
    <div class="records">
      <Jump page={page} tab="records" place={{ iteration, lane }} />
      <p class="note">
        All of it is in <code>{records}</code>
      </p>
      {isMissing || iterations.length === 0 ? (
        <Empty>
          There are no records of this iteration: <code>ralph clean</code> removed them, or it has not begun.
        </Empty>
      ) : found === undefined ? (
        <Loading lines={8} />
      ) : (
        <>
          <ul class="names">
            {found.files.map(({ name, bytes: size }) => (
              <li key={name}>
                <button
                  type="button"
                  data-row
                  {...(name === found.name && { "aria-current": "true" })}
                  onClick={() => load(name)}
                >
                  {name} <small>{bytes(size)}</small>
                </button>
              </li>
            ))}
          </ul>
          {found.from > 0 && (
            <button type="button" class="more" onClick={() => load(found.name, "&from=0")}>
              The first {bytes(found.from)} are left out: show the beginning
            </button>
          )}
          {found.output === "" ? <Empty>This file is empty.</Empty> : <Printed text={found.output} />}
        </>
      )}
    </div>
  );
}
