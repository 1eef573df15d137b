import { projectToComplete, type Typed, typed } from "./terminal.js";

const START_UP = `
PS1='ready> '
bind -x '"\\C-t": printf "<<%s>>" "$READLINE_LINE"'
bind 'set enable-bracketed-paste off'
`;
export const LOAD = 'eval "$(ralph completion bash)"\n';

export async function inBash(startUp: string, keys: string[]): Promise<Typed> {
  const p = projectToComplete();
  p.write("../home/house.md", "");
  const file = p.write("../start-up", START_UP + startUp);
  return typed(p, `bash --noprofile --rcfile '${file}' -i`, keys);
}
