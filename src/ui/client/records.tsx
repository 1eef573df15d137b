import { useEffect, useState } from "preact/hooks";
import type { RecordPage, RunPage } from "../api.js";
import { Empty, Loading, Printed } from "./parts.jsx";
import { ask } from "./store.js";
import { bytes } from "./words.js";

/** The files behind each iteration: the prompt, what the agent sent, the logs of the checks. */
export function RecordsView({ page, part }: { page: RunPage; part: string }) {
  const { row, iterations, records } = page;
  const iteration = Number(part) || iterations.at(-1)?.iteration || 1;
  const [found, setFound] = useState<RecordPage | undefined>(undefined);
  const [isMissing, setMissing] = useState(false);
  const load = (name: string, from = ""): void => {
    const path = `/api/runs/${row.id}/iterations/${iteration}/files`;
    void ask<RecordPage>(name === "" ? path : `${path}/${encodeURIComponent(name)}${from}`).then(
      (answer) => {
        setFound(answer);
        setMissing(false);
        const first = answer.files.find((file) => /prompt/.test(file.name)) ?? answer.files[0];
        if (name === "" && first !== undefined) load(first.name, "?from=0");
      },
      () => setMissing(true),
    );
  };
  useEffect(() => {
    setFound(undefined);
    load("");
  }, [row.id, iteration]);
  return (
    <div class="records">
      <nav class="jump" aria-label="iterations">
        {iterations.map((one) => (
          <a
            key={one.iteration}
            href={`/runs/${row.id}/records/${one.iteration}`}
            {...(one.iteration === iteration && { "aria-current": "page" })}
          >
            {one.iteration}
          </a>
        ))}
      </nav>
      {isMissing || iterations.length === 0 ? (
        <Empty>There are no records of this iteration.</Empty>
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
                  onClick={() => load(name, /prompt/.test(name) ? "?from=0" : "")}
                >
                  {name} <small>{bytes(size)}</small>
                </button>
              </li>
            ))}
          </ul>
          {found.from > 0 && (
            <button type="button" class="more" onClick={() => load(found.name, "?from=0")}>
              The first {bytes(found.from)} are left out: show the beginning
            </button>
          )}
          <Printed text={found.output} />
        </>
      )}
      <p class="note">
        All of it is in <code>{records}</code>
      </p>
    </div>
  );
}
