import type { Agent } from "../agents/agent.js";
import type { AgentEvent, TextEvent } from "../events.js";

/** Lines of a plain command that came together are told together: there can be millions of them. */
export function* eventsIn(texts: string[], parse: Agent["parse"]): Generator<AgentEvent> {
  let plain: TextEvent | undefined;
  for (const event of parsed(texts, parse)) {
    if (isPlain(event)) {
      plain = plain === undefined ? event : { ...plain, text: `${plain.text}\n${event.text}` };
      continue;
    }
    if (plain !== undefined) yield plain;
    plain = undefined;
    yield event;
  }
  if (plain !== undefined) yield plain;
}

function* parsed(texts: string[], parse: Agent["parse"]): Generator<AgentEvent> {
  for (const text of texts) yield* parse(text);
}

function isPlain(event: AgentEvent): event is TextEvent {
  return event.type === "text" && !event.delta && !event.subagent && event.message === undefined;
}
