/** What a gate has to say of one place. Errors fail the gate, warnings do not. */
export interface Finding {
  file: string;
  /** From 1 on. */
  line: number;
  level: "error" | "warning";
  message: string;
}

export const GATES = ["stress-test", "validate", "generate", "check", "implement", "check-tests"] as const;

export type GateName = (typeof GATES)[number];

/** What came of a gate; `ralph gate --json` prints it as it is. */
export interface GateReport {
  v: 1;
  gate: GateName;
  file: string;
  passed: boolean;
  /** One line for people. */
  message: string;
  findings: Finding[];
  /** The instruction for an agent, from the workspace on. */
  instruction: string;
}

/** Findings about one file. */
export function findingsIn(file: string) {
  const at =
    (level: Finding["level"]) =>
    (line: number, message: string): Finding => ({ file, line, level, message });
  return { error: at("error"), warning: at("warning") };
}

export function errorsIn(findings: Finding[]): Finding[] {
  return findings.filter(({ level }) => level === "error");
}
