import { describe, expect, it } from "vitest";
import { createProject } from "../kit.js";

describe("ralph completion", () => {
  it.each(["bash", "zsh", "fish"])("prints the script for %s", async (shell) => {
    const { code, stdout, stderr } = await createProject().ralph("completion", shell);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(new RegExp(`^(#compdef ralph\n)?# Completion of ralph in ${shell}`));
    expect(stdout).toContain("ralph complete -- ");
  });

  it.each([
    [
      ["completion"],
      "/usr/bin/zsh",
      "no shell was given: expected bash, zsh, fish (yours seems to be zsh: ralph completion zsh)",
    ],
    [["completion"], "/bin/tcsh", "no shell was given: expected bash, zsh, fish (ralph completion --help)"],
    [["completion"], "", "no shell was given: expected bash, zsh, fish (ralph completion --help)"],
    [["completion", "bsh"], "/bin/bash", "unknown shell bsh: expected bash, zsh, fish (did you mean bash?)"],
    [["completion", "powershell"], "/bin/bash", "unknown shell powershell: expected bash, zsh, fish"],
    [["completion", "toString"], "/bin/bash", "unknown shell toString: expected bash, zsh, fish"],
    [
      ["completion", "bash", "zsh"],
      "/bin/bash",
      "too many arguments for 'completion'. Expected 1 argument but got 2.",
    ],
  ])("%j with SHELL=%s is one line, exit 2", async (args, SHELL, message) => {
    const { code, stdout, stderr } = await createProject().ralphWith({ env: { SHELL } }, ...args);
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: "", stderr: `ralph: error: ${message}\n` });
  });
});
