/** What is shown in a step of GitHub Actions is read by its runner: some lines are commands to it. */

/** A command stands at the beginning of a line, behind white space at the most, or after `##[` anywhere in it. */
const AT_LINE_START = /(^|[\r\n])((?:[^\S\r\n]|\u0085)*)::/g;
const ANYWHERE = /##\[/g;

/** The same text as the runner would show it, with nothing to obey. JSON stays the same JSON. */
export function withoutCommands(text: string): string {
  return text.replace(AT_LINE_START, "$1$2\\::").replace(ANYWHERE, "##\\u005b");
}

const unguarded = new Map<NodeJS.WriteStream, (text: string) => boolean>();

/**
 * What agents and checks say is shown on many ways, and none of it may be a command: so it is taken care of
 * where all of them end.
 */
export function guardOutput(streams: NodeJS.WriteStream[] = [process.stdout, process.stderr]): void {
  for (const stream of streams) {
    const write = stream.write.bind(stream);
    unguarded.set(stream, write);
    stream.write = (chunk: string | Uint8Array, ...more: unknown[]): boolean =>
      Reflect.apply(write, stream, [typeof chunk === "string" ? withoutCommands(chunk) : chunk, ...more]);
  }
}

/** Says a command of ralph's own. */
export function tellRunner(stream: NodeJS.WriteStream, command: string): void {
  const write = unguarded.get(stream) ?? stream.write.bind(stream);
  write(`${command}\n`);
}
