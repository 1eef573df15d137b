import { RalphError } from "../errors.js";
import { answerHook } from "../hooks/answer.cjs";
import { askLoop, HOOK_NAMES, HOOKS, isHookName } from "../hooks/registry.js";
import { nearest } from "../nearest.js";

export interface HookFlags {
  /** Where the loop that started the agent answers. */
  loop?: string;
}

/** `ralph hook NAME`: answers itself, or hands over to the loop that started the agent. */
export async function hook(name: string | undefined, { loop }: HookFlags): Promise<number> {
  if (name === undefined) throw noHook();
  if (!isHookName(name)) throw unknownHook(name);
  if (loop === undefined) await answerHook(name, await HOOKS[name]());
  else {
    checkAddress(loop);
    await answerHook(name, ({ sent }, { env }) => askLoop(loop, sent, env));
  }
  return 0;
}

function noHook(): RalphError {
  return new RalphError(`no hook was given: expected ${HOOK_NAMES.join(", ")}`, {
    code: "hook_missing",
    hint: "ralph hook --help",
  });
}

function unknownHook(name: string): RalphError {
  const meant = nearest(name, HOOK_NAMES);
  return new RalphError(`unknown hook ${name}: expected ${HOOK_NAMES.join(", ")}`, {
    code: "hook_unknown",
    ...(meant !== undefined && { hint: `did you mean ${meant}?` }),
  });
}

/** What agents send is for a loop on this machine and for nobody else. */
function checkAddress(url: string): void {
  if (/^http:\/\/127\.0\.0\.1:\d+\//.test(url)) return;
  throw new RalphError(`--loop ${url}: expected an address such as http://127.0.0.1:4000/stop`, {
    code: "address_invalid",
  });
}
