/** Apart from the schema, so that a project without a settings file does not load it. */
export const DEFAULTS = {
  maximumIterations: 10,
  completionResponse: "DONE",
  outputTruncateChars: 5000,
  streamAgentOutput: true,
  includeIterationCountInPrompt: false,
  guardrails: [],
};
