import { RalphError } from "../errors.js";
import { answerHook } from "../hooks/answer.cjs";
import { askLoop, HOOK_NAMES, HOOKS, isHookName } from "../hooks/registry.js";
import { didYouMean } from "../nearest.js";

const EXPECTED = `expected ${HOOK_NAMES.join(", ")}`;

/** `ralph hook NAME`: answers itself, or hands over to the loop that started the agent and answers at `loop`. */
export async function hook(name: string | undefined, { loop }: { loop?: string }): Promise<number> {
  if (name === undefined)
    throw new RalphError(`no hook was given: ${EXPECTED}`, {
      code: "hook_missing",
      hint: "ralph hook --help",
    });
  if (!isHookName(name))
    throw new RalphError(`unknown hook ${name}: ${EXPECTED}`, {
      code: "hook_unknown",
      hint: didYouMean(name, HOOK_NAMES),
    });
  if (loop === undefined) await answerHook(name, await HOOKS[name]());
  else {
    // What agents send is for a loop on this machine and for nobody else.
    if (!/^http:\/\/127\.0\.0\.1:\d+\//.test(loop))
      throw new RalphError(`--loop ${loop}: expected an address such as http://127.0.0.1:4000/stop`, {
        code: "address_invalid",
      });
    await answerHook(name, ({ sent }, { env }) => askLoop(loop, sent, env));
  }
  return 0;
}
