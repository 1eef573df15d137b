/**
 * What the runner of GitHub Actions takes for commands in the output of a step: `::name …::data` at the
 * beginning of a line, behind white space at the most, or `##[name …]data` anywhere in it.
 */
export function workflowCommands(output: string): string[] {
  return output
    .split(/\r\n|\n|\r/)
    .filter((line) => /^[\s\u0085]*::[^:].*::/.test(line) || /##\[[^\]]+\]/.test(line));
}
