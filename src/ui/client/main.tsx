import { render } from "preact";
import { CostsPage } from "./costs.jsx";
import { Help, isHelpShown, startKeys } from "./keys.jsx";
import { liveState, lostSince, startLive } from "./live.js";
import { OverviewPage } from "./overview.jsx";
import { clock } from "./parts.jsx";
import { RunPageView, reloadRun } from "./run.jsx";
import {
  go,
  loadOverview,
  notice,
  now,
  overview,
  path,
  placeIn,
  project,
  search,
  startRouting,
  trouble,
} from "./store.js";

const STATES = {
  connecting: "connecting",
  live: "live",
  lost: "cannot tell",
  resting: "resting",
} as const;

/** What was found is on the page of all runs. */
function find(): void {
  if (path.value !== "/") go("/");
  void loadOverview();
}

function Header() {
  const here = path.value;
  const at = (to: string): { "aria-current"?: "page" } => (here === to ? { "aria-current": "page" } : {});
  const projects = overview.value?.projects ?? [];
  return (
    <header class="top">
      <a class="mark" href="/" aria-label="ralph, all runs">
        ralph
      </a>
      <nav aria-label="pages">
        <a href="/" {...at("/")}>
          Runs
        </a>
        <a href="/costs" {...at("/costs")}>
          Costs
        </a>
      </nav>
      <div class={here === "/" ? "find" : "find elsewhere"}>
        <input
          type="search"
          id="search"
          placeholder="Search  /"
          aria-label="search the runs"
          value={search.value}
          onInput={({ currentTarget }) => {
            search.value = currentTarget.value;
            find();
          }}
        />
        <select
          aria-label="project"
          value={project.value}
          onChange={({ currentTarget }) => {
            project.value = currentTarget.value;
            find();
          }}
        >
          <option value="">All projects</option>
          {projects.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </div>
      <span class={`live ${liveState.value}`} role="status" title="live, from the records on disk">
        {STATES[liveState.value]}
        {lostSince.value !== undefined && ` since ${clock(new Date(lostSince.value).toISOString())}`}
      </span>
      {overview.value?.readOnly && <span class="tag">read-only</span>}
      <button type="button" class="keys-button" onClick={() => (isHelpShown.value = true)}>
        Keys <kbd>?</kbd>
      </button>
    </header>
  );
}

function Page() {
  const [, first = "", id = "", tab = "", part = ""] = path.value.split("/");
  if (first === "costs") return <CostsPage />;
  if (first === "runs" && id !== "") return <RunPageView key={id} id={id} tab={tab} place={placeIn(part)} />;
  return <OverviewPage />;
}

function App() {
  const said = notice.value;
  return (
    <>
      <a class="skip" href="#main">
        to the content
      </a>
      <Header />
      {trouble.value !== undefined && (
        <p class="trouble" role="alert">
          {trouble.value}
        </p>
      )}
      <main id="main">
        <Page />
      </main>
      {said !== undefined && (
        <p class={`notice ${said.isError ? "error" : ""}`} role={said.isError ? "alert" : "status"}>
          {said.text}{" "}
          <button type="button" aria-label="close" onClick={() => (notice.value = undefined)}>
            ×
          </button>
        </p>
      )}
      {isHelpShown.value && <Help />}
    </>
  );
}

const root = document.getElementById("app");
if (root !== null) render(<App />, root);
startRouting();
startKeys();
startLive(() => {
  void loadOverview();
  reloadRun();
});
void loadOverview();
setInterval(() => {
  if (document.visibilityState === "visible") now.value = Date.now();
}, 1000);
