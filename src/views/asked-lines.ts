import type { AgentStarted, LoopEvent } from "../events.js";
import { ESCALATED } from "../records/limited.js";
import type { Formatter } from "./format.js";
import { harmlessLine } from "./harmless.js";

/** Says who is asked, where it is not the agent that was asked before. */
export function createAskedLines({ mark, paragraph }: Formatter): (event: LoopEvent) => string[] {
  let isEscalated = false;
  return (event) => {
    if (event.type !== "agent.started" || event.attempt > 1) return [];
    const text = whoIsAsked(event, isEscalated);
    if (event.role === undefined || event.role === ESCALATED) isEscalated = event.role === ESCALATED;
    return text === undefined ? [] : paragraph(`${mark.warning} ${text}`, "yellow");
  };
}

function whoIsAsked({ agent, role, insteadOf }: AgentStarted, isEscalated: boolean): string | undefined {
  const name = harmlessLine(agent);
  if (insteadOf !== undefined) return `${harmlessLine(insteadOf)} is limited or down: asking ${name}`;
  return role === ESCALATED && !isEscalated ? `The run is stuck: asking ${name}` : undefined;
}
