import type { Agent } from "../agents/agent.js";
import type { AgentEvent, TextEvent } from "../events.js";

/** Lines of plain text that came together become one event: there can be millions of them. */
export function eventsIn(lines: string[], parse: Agent["parse"]): AgentEvent[] {
  const events: AgentEvent[] = [];
  let texts: string[] = [];
  const flush = (): void => {
    if (texts.length > 0) events.push({ type: "text", text: texts.join("\n") });
    texts = [];
  };
  for (const line of lines) {
    for (const event of parse(line)) {
      if (isPlain(event)) {
        texts.push(event.text);
        continue;
      }
      flush();
      events.push(event);
    }
  }
  flush();
  return events;
}

function isPlain(event: AgentEvent): event is TextEvent {
  return event.type === "text" && !event.delta && !event.subagent && event.message === undefined;
}
