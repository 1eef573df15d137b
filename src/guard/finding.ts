/** What the guard looks for, in the order of `docs/reference/guard.md`. */
export const CATEGORIES = {
  files: "destructive file operation",
  disks: "disks, partitions, boot",
  exhaustion: "resource exhaustion",
  exfiltration: "exfiltration",
  "remote-access": "remote access",
  secrets: "secrets",
  privileges: "privilege escalation",
  containers: "container escape",
  "supply-chain": "supply chain",
  git: "destructive git",
  system: "system configuration",
  obfuscation: "obfuscated execution",
  environment: "environment hijack",
  processes: "processes and kernel",
  persistence: "persistence",
  databases: "databases",
  cloud: "cloud",
  "protected-paths": "protected paths",
} as const;

export type Category = keyof typeof CATEGORIES;

type Level = "refuse" | "warn";

/** The reason against a command. */
export interface Risk {
  category: Category;
  level: Level;
  reason: string;
  /** No line of `ralph/allowed-commands.txt` allows it. */
  final?: boolean;
}

export interface GuardFinding extends Omit<Risk, "final"> {
  /** The simple command in question, after expansion. */
  command: string;
}

/** The judgement of a command or a tool call. */
export interface GuardVerdict {
  allowed: boolean;
  refusals: GuardFinding[];
  warnings: GuardFinding[];
}

export function refuse(category: Category, reason: string): Risk {
  return { level: "refuse", category, reason };
}

export function warn(category: Category, reason: string): Risk {
  return { level: "warn", category, reason };
}

/** What the guard cannot judge, it refuses. */
export function unjudged(error: unknown, command: string): GuardFinding {
  const why = error instanceof Error ? error.message : String(error);
  return { level: "refuse", category: "obfuscation", reason: `it cannot be judged: ${why}`, command };
}

export function verdictOf(found: GuardFinding[]): GuardVerdict {
  const findings = found.map(({ category, level, reason, command }) => ({
    category,
    level,
    reason: inOneLine(reason),
    command,
  }));
  const refusals = findings.filter(({ level }) => level === "refuse");
  const warnings = findings.filter(({ level }) => level === "warn");
  return { allowed: refusals.length === 0, refusals, warnings };
}

/** Reasons quote file names, which can have any length. */
function inOneLine(reason: string): string {
  const text = reason.replace(/[\s\p{Cc}]+/gu, " ");
  return text.length > 160 ? `${text.slice(0, 159)}…` : text;
}
