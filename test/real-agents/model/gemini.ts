import { type Answer, type Body, type Dialect, halves, listIn, newId, USAGE } from "./dialect.js";

/** The API of Gemini. */
export const gemini: Dialect = {
  speaks: (path) => /\/models\/[^/]+:(?:streamGenerateContent|generateContent)$/.test(path),
  read(body, path) {
    const tools = listIn(body, "tools").flatMap((tool) =>
      listIn(tool, "functionDeclarations").map(({ name }) => String(name)),
    );
    return {
      tools,
      shell: (command) => ({
        name: "run_shell_command",
        input: { command, description: "as the script says" },
      }),
      streams: path.endsWith(":streamGenerateContent"),
      ...(tools.length === 0 && { aside: { text: aside(body) } }),
    };
  },
  pieces(answer) {
    const parts = partsOf(answer, halves(answer.text));
    return parts.map((part, at) => ({ data: chunk([part], at === parts.length - 1) }));
  },
  whole: (answer) => chunk(partsOf(answer, [answer.text]), true),
  failure: ({ status, type, message, more }) => ({ error: { code: status, status: type, message, ...more } }),
};

function partsOf({ call }: Answer, texts: string[]): Body[] {
  const said = texts.map((text) => ({ text }));
  if (call === undefined) return said;
  return [...said, { functionCall: { id: newId("fc"), name: call.name, args: call.input } }];
}

function chunk(parts: Body[], isLast: boolean): Body {
  return {
    candidates: [{ index: 0, content: { role: "model", parts }, ...(isLast && { finishReason: "STOP" }) }],
    usageMetadata: {
      promptTokenCount: USAGE.input,
      candidatesTokenCount: USAGE.output,
      cachedContentTokenCount: USAGE.cached,
      totalTokenCount: USAGE.input + USAGE.output,
    },
  };
}

/** Gemini asks itself which model to take, and wants an answer that fits a schema. */
function aside(body: Body): string {
  const config = (body["generationConfig"] ?? {}) as Body;
  const schema = config["responseJsonSchema"] ?? config["responseSchema"];
  return schema === undefined ? "Work" : JSON.stringify(smallest(schema as Body));
}

function smallest(schema: Body): unknown {
  const choices = schema["enum"];
  if (Array.isArray(choices)) return choices[0];
  switch (String(schema["type"]).toLowerCase()) {
    case "object":
      return smallestObject(schema);
    case "array":
      return [];
    case "number":
    case "integer":
      return 1;
    case "boolean":
      return false;
    default:
      return "x";
  }
}

function smallestObject({ properties = {}, required }: Body): Body {
  const inner = properties as Record<string, Body>;
  const names = Array.isArray(required) ? (required as string[]) : Object.keys(inner);
  return Object.fromEntries(names.map((name) => [name, smallest(inner[name] ?? {})]));
}
