import { describe, expect, it } from "vitest";
import { examineSandboxes } from "../../../src/setup/doctor/examine.js";
import { createProject, type Project } from "../../kit.js";
import { machine, prints } from "./machine.js";

const NO_DOCKER = {
  name: "docker",
  status: "ok",
  message: "not installed: neither sbx nor docker is installed",
  installed: false,
};

/** All that srt needs. */
function bubblewrap(p: Project): void {
  for (const name of ["bwrap", "socat", "rg", "bash"]) prints(p, name, "1.0");
}

describe("sandboxes", () => {
  it("none is one warning", async () => {
    const p = createProject();
    expect(await examineSandboxes(machine(p, { platform: "linux" }))).toEqual([
      {
        name: "srt",
        status: "warning",
        message:
          "not installed: bwrap, socat, rg, bash not found; no other sandbox works: agents can reach everything that you can",
        fix: "install bubblewrap socat ripgrep bash",
        installed: false,
      },
      NO_DOCKER,
    ]);
  });

  it("one that works is enough", async () => {
    const p = createProject();
    bubblewrap(p);
    expect(await examineSandboxes(machine(p, { platform: "linux" }))).toEqual([
      { name: "srt", status: "ok", installed: true, message: "works (bubblewrap)" },
      { ...NO_DOCKER, message: `not needed, and ${NO_DOCKER.message}` },
    ]);
  });

  it.each(["docker", "sbx"])("%s alone is enough", async (program) => {
    const p = createProject();
    prints(p, program, "SANDBOX");
    const findings = await examineSandboxes(machine(p, { platform: "linux" }));
    expect(findings.map(({ name, status, installed }) => ({ name, status, installed }))).toEqual([
      { name: "srt", status: "ok", installed: false },
      { name: "docker", status: "ok", installed: true },
    ]);
  });

  it("bubblewrap that may not make a namespace is a warning", async () => {
    const p = createProject();
    bubblewrap(p);
    p.program("bwrap", '#!/bin/sh\necho "bwrap: setting up uid map: Permission denied" >&2; exit 1\n');
    expect((await examineSandboxes(machine(p, { platform: "linux" })))[0]).toEqual({
      name: "srt",
      status: "warning",
      message:
        "does not work here: bwrap: setting up uid map: Permission denied; no other sandbox works: agents can reach everything that you can",
      fix: "allow user namespaces (Ubuntu: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0; a container: start it with more privileges)",
      installed: true,
    });
  });

  it.each([
    ["Cannot connect to the Docker daemon", "linux", "sudo systemctl start docker"],
    [
      "docker: 'sandbox' is not a docker command.",
      "linux",
      "install sbx, or Docker Desktop 4.58 or later (https://docs.docker.com/ai/sandboxes/)",
    ],
    ["Not logged in", "linux", "docker login, or sign in to Docker Desktop"],
  ] as const)("docker that says %j on %s", async (said, platform, fix) => {
    const p = createProject();
    p.program("docker", `#!/bin/sh\necho "${said}" >&2; exit 1\n`);
    expect((await examineSandboxes(machine(p, { platform })))[1]).toMatchObject({
      status: "warning",
      installed: true,
      fix,
    });
  });
});
