import { describe, expect, it } from "vitest";
import { examineSandboxes } from "../../src/doctor/sandboxes.js";
import { createProject } from "../kit.js";
import { machine, prints } from "./machine.js";

const NO_DOCKER = { name: "docker", status: "ok", message: "not installed", installed: false };

describe("sandboxes", () => {
  it("none is one warning", async () => {
    const p = createProject();
    expect(await examineSandboxes(machine(p))).toEqual([
      {
        name: "bubblewrap",
        status: "warning",
        message: "not installed, and no other sandbox works: an agent can reach all that you can",
        fix: "install bubblewrap",
        installed: false,
      },
      NO_DOCKER,
    ]);
  });

  it("one that works is enough", async () => {
    const p = createProject();
    const path = prints(p, "bwrap", "bubblewrap 0.8.0");
    const bubblewrap = { name: "bubblewrap", status: "ok", installed: true, path, version: "0.8.0" };
    expect(await examineSandboxes(machine(p))).toEqual([
      { ...bubblewrap, message: `0.8.0 at ${path}, works` },
      NO_DOCKER,
    ]);
  });

  it("docker alone is enough", async () => {
    const p = createProject();
    prints(p, "docker", "28.2.2");
    const findings = await examineSandboxes(machine(p));
    expect(findings.map(({ name, status, installed }) => ({ name, status, installed }))).toEqual([
      { name: "bubblewrap", status: "ok", installed: false },
      { name: "docker", status: "ok", installed: true },
    ]);
  });

  it("bubblewrap that may not make a namespace is a warning", async () => {
    const p = createProject();
    const path = p.program(
      "bwrap",
      '#!/bin/sh\ntest "$1" = --version && echo bubblewrap 0.8.0 && exit\necho "bwrap: setting up uid map: Permission denied" >&2; exit 1\n',
    );
    expect((await examineSandboxes(machine(p)))[0]).toEqual({
      name: "bubblewrap",
      status: "warning",
      message: `0.8.0 at ${path} does not work here: bwrap: setting up uid map: Permission denied (exit 1)`,
      fix: "allow user namespaces (Ubuntu: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0; a container: start it with more privileges)",
      installed: true,
      path,
      version: "0.8.0",
    });
  });

  it.each([
    ["Cannot connect to the Docker daemon", "linux", "sudo systemctl start docker"],
    ["Cannot connect to the Docker daemon", "darwin", "open -a Docker"],
    [
      "permission denied while trying to connect",
      "linux",
      "sudo usermod -aG docker $USER, then log in again",
    ],
  ] as const)("docker whose engine says %j on %s", async (said, platform, fix) => {
    const p = createProject();
    p.program(
      "docker",
      `#!/bin/sh\ntest "$1" = --version && echo Docker version 28.2.2, build e && exit\necho "${said}" >&2; exit 1\n`,
    );
    expect((await examineSandboxes(machine(p, { platform })))[1]).toMatchObject({
      status: "warning",
      message: expect.stringContaining(`does not work here: ${said} (exit 1)`),
      version: "28.2.2",
      fix,
    });
  });

  it("on macOS is sandbox-exec", async () => {
    const p = createProject();
    const path = p.program("sandbox-exec", "#!/bin/sh\nexit 0\n");
    expect((await examineSandboxes(machine(p, { platform: "darwin" })))[0]).toEqual({
      name: "sandbox-exec",
      status: "ok",
      message: `${path}, works`,
      installed: true,
      path,
    });
  });
});
