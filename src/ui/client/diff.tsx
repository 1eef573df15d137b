import { parsePatch, type StructuredPatch } from "diff";
import { useEffect, useState } from "preact/hooks";
import type { DiffPage, RunPage } from "../api.js";
import { Empty, Loading } from "./parts.jsx";
import { ask } from "./store.js";

/** What the run has changed since it began. */
export function DiffView({ page, part }: { page: RunPage; part: string }) {
  const { id } = page.row;
  const [diff, setDiff] = useState<DiffPage | undefined>(undefined);
  useEffect(() => {
    setDiff(undefined);
    void ask<DiffPage>(
      `/api/runs/${id}/diff${part === "" ? "" : `?iteration=${encodeURIComponent(part)}`}`,
    ).then(setDiff, (error: Error) => setDiff({ at: "", base: null, patch: "", why: error.message }));
  }, [id, part, page.iterations.length]);
  if (diff === undefined) return <Loading lines={10} />;
  if (diff.why !== undefined) return <Empty>{diff.why}</Empty>;
  const files = parsed(diff.patch);
  if (files.length === 0) return <Empty>Nothing has changed.</Empty>;
  return (
    <div class="diff">
      {files.map((file) => (
        <File key={nameOf(file)} file={file} />
      ))}
    </div>
  );
}

function parsed(patch: string): StructuredPatch[] {
  try {
    return parsePatch(patch);
  } catch {
    return [];
  }
}

function nameOf({ oldFileName = "", newFileName = "" }: StructuredPatch): string {
  const name = newFileName === "/dev/null" ? oldFileName : newFileName;
  return name.replace(/^[ab]\//, "");
}

const FOLDED_LINES = 400;

function File({ file }: { file: StructuredPatch }) {
  const lines = file.hunks.flatMap((hunk) => hunk.lines);
  const count = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length;
  return (
    <details class="file" open={lines.length < FOLDED_LINES}>
      <summary data-row>
        <code>{nameOf(file)}</code>{" "}
        <small>
          <span class="added">+{count("+")}</span> <span class="deleted">−{count("-")}</span>
        </small>
      </summary>
      <div class="scroll">
        <table class="patch">
          <tbody>
            {file.hunks.map((hunk) => (
              <Hunk key={`${hunk.oldStart},${hunk.newStart}`} hunk={hunk} />
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

function Hunk({ hunk }: { hunk: StructuredPatch["hunks"][number] }) {
  let [before, after] = [hunk.oldStart, hunk.newStart];
  return (
    <>
      <tr class="hunk">
        <td colSpan={3}>
          @@ −{hunk.oldStart},{hunk.oldLines} +{hunk.newStart},{hunk.newLines} @@
        </td>
      </tr>
      {hunk.lines.map((line, index) => {
        const sign = line[0] ?? " ";
        const numbers = [sign === "+" ? "" : before, sign === "-" ? "" : after];
        if (sign !== "+") before += 1;
        if (sign !== "-") after += 1;
        const look = sign === "+" ? "added" : sign === "-" ? "deleted" : "";
        return (
          <tr key={index} class={look}>
            <td class="number">{numbers[0]}</td>
            <td class="number">{numbers[1]}</td>
            <td>
              <pre>{line}</pre>
            </td>
          </tr>
        );
      })}
    </>
  );
}
