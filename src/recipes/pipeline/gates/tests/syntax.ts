import { capture } from "../../../../process/capture.js";
import { which } from "../../../../process/which.js";
import { type Finding, findingsIn } from "../finding.js";
import type { TestFile } from "./test-files.js";

const PARSE_MS = 60_000;

const PYTHON = `
import ast, sys
for name in sys.argv[1:]:
    try:
        ast.parse(open(name, encoding="utf-8").read(), name)
    except (SyntaxError, ValueError) as error:
        print(name, getattr(error, "lineno", None) or 1, getattr(error, "msg", error), sep="\\t")
`;

/** Files that their language cannot read. Languages without a parser here are left to their runner. */
export async function syntaxFindings(workspace: string, files: TestFile[]): Promise<Finding[]> {
  const python = files.filter(({ language }) => language === "python");
  const javascript = files.filter(({ language }) => language === "javascript");
  const found = [
    pythonFindings(workspace, python),
    ...javascript.map((file) => nodeFindings(workspace, file)),
  ];
  return (await Promise.all(found)).flat();
}

async function pythonFindings(workspace: string, files: TestFile[]): Promise<Finding[]> {
  if (files.length === 0) return [];
  const found = which("python3", workspace, process.env["PATH"]);
  if (found.status !== "found") return [];
  const args = ["-c", PYTHON, ...files.map(({ name }) => name)];
  const { stdout } = await capture(
    { file: found.path, args, cwd: workspace, env: process.env },
    { timeoutMs: PARSE_MS },
  );
  return stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => {
      const [name = "", number = "1", message = ""] = line.split("\t");
      return notParsed(name, Number(number), message);
    });
}

async function nodeFindings(workspace: string, { name }: TestFile): Promise<Finding[]> {
  const { ok, stderr } = await capture(
    { file: process.execPath, args: ["--check", name], cwd: workspace, env: process.env },
    { timeoutMs: PARSE_MS },
  );
  if (ok) return [];
  const line = /:(\d+)$/m.exec(stderr.split("\n", 1)[0] ?? "")?.[1] ?? "1";
  return [notParsed(name, Number(line), /^\w*Error: .*$/m.exec(stderr)?.[0] ?? "node cannot read it")];
}

function notParsed(name: string, line: number, message: string): Finding {
  return findingsIn(name).error(line, `it does not parse: ${message}`);
}
