import type { Finding, GateName } from "./finding.js";
import { criterionIds } from "./prp.js";

export interface Asked {
  /** The file that the gate looks at, as the user knows it. */
  file: string;
  text: string;
  findings: Finding[];
  /** Where the PRP belongs. */
  prpFile: string;
  /** Where the tests are looked for. */
  tests: string;
  testCommand: string | undefined;
}

/** What an agent has to do so that the gate passes, for any agent and for people. */
export function instruction(gate: GateName, asked: Asked): string {
  return `${[TITLES[gate](asked), TASKS[gate](asked), findingsText(asked.findings)].filter(Boolean).join("\n\n")}\n`;
}

const TITLES: Record<GateName, (asked: Asked) => string> = {
  "stress-test": ({ file }) => `# Stress-test ${file}`,
  validate: ({ file }) => `# Validate ${file}`,
  generate: ({ file }) => `# Generate a PRP from ${file}`,
  check: ({ file }) => `# Check ${file}`,
  implement: ({ file }) => `# Write the tests for ${file}`,
  "check-tests": ({ file }) => `# Check the tests for ${file}`,
};

const TASKS: Record<GateName, (asked: Asked) => string> = {
  "stress-test": ({ file }) => `Read ${file} as somebody who has to build it and can ask nobody. It must have:

- a section "Problem": what is wrong today, and for whom
- a section "Success criteria" (or "Acceptance criteria"): a list, one thing per item
- at least 100 words in all

It should also have a section "Scope" that says what is not part of it, and a section "Verification" that says how each criterion is checked. Ask of each criterion: what happens on empty input, on input that is there twice, on input that is too large, when the disk or the network fails? Write what is missing into ${file}. Do not invent wishes that the text does not hint at.`,

  validate: ({ file }) => `Make ${file} mean one thing alone:

- No word that two readers understand in two ways, such as "properly", "as needed" or "all" without bounds.
- Every success criterion names something that can be seen or counted: a figure, an exact text, an event.

Change the wording, not the intent, and drop no criterion.`,

  generate: ({
    file,
    prpFile,
  }) => `Write ${prpFile} from ${file}. It is a PRP: all that an engineer needs to build it, and nothing that ${file} does not say. Use exactly these parts:

\`\`\`markdown
# PRP-YYYY-MM-DD-NNN

## Meta
ID, date, domain, source (${file}), confidence (n/10)

## 1. Problem
The problem of ${file}, word for word.

## 2. Success Criteria
| id | source | criterion |
|---|---|---|
| SC-1 | line N | one row for each criterion, with the line of ${file} that it comes from |

## 3. Scope
What is part of it and what is not.

## 4. Functional requirements
FR-1 … each with the SC-n that it serves

## 5. Failure modes
What can go wrong, and what happens then.

## Phase 1: NAME
### Deliverables
- F1.1 a file or a behaviour

## 7. Validation commands
The commands that prove it.
\`\`\`

Every criterion of ${file} gets a row and a number of its own. Write no code and no tests yet.`,

  check: ({ file }) =>
    `${file} must have: the title "# PRP-…", Meta, Problem, Success Criteria (a table with SC-1, SC-2 …, each once, each with its source line), Scope, Functional requirements (FR-1 …), Failure modes, at least one "Phase n" with its deliverables, Validation commands. Mend what is named below and leave the rest as it is.`,

  implement: (
    asked,
  ) => `Write tests in ${asked.tests} for the criteria of ${asked.file}: ${criterionIds(asked.text).join(", ") || "SC-1 …"}.

- One test or more for each criterion. Name the criterion in the test: in its title ("SC-1 saves a recipe"), in the name of the function (test_sc_1_saves) or in a comment directly above it.
- Every test asserts something that is true only when the criterion is met. No test is skipped.
- The tests are run with: ${asked.testCommand ?? "the test command of the project"}
- Do not implement anything: the tests must fail now, because what they test is not there yet.`,

  "check-tests": (asked) => `The tests for ${asked.file} must be sound before anything is implemented:

- every criterion (${criterionIds(asked.text).join(", ") || "SC-n"}) is named in a test
- every test file parses
- no test is without an assertion, and none is skipped
- the suite fails now (${asked.testCommand ?? "the test command of the project"})

Mend the tests that are named below. Do not implement what they test.`,
};

function findingsText(findings: Finding[]): string {
  if (findings.length === 0) return "";
  const lines = findings.map(({ file, line, level, message }) => `- ${file}:${line}: ${level}: ${message}`);
  return `## Findings\n\n${lines.join("\n")}`;
}
