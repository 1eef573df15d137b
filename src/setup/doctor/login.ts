import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Agent } from "../../agents/agent.js";
import type { DoctorContext } from "./context.js";
import type { Auth } from "./finding.js";

/** How an agent would sign in, as far as it shows without reading a secret. */
export function authOf({ credentials, setup }: Agent, context: DoctorContext): Auth {
  const { env, home, platform } = context;
  const variables = [...credentials, ...(setup?.otherVariables ?? [])].filter((name) => env[name]);
  if (setup === undefined) return { variables };
  const { variable, folder, path } = setup.loginFile;
  const file = join(env[variable] || join(home, folder), path);
  if (existsSync(file)) return { variables, loginFile: file };
  return { variables, ...(setup.usesKeychain && platform === "darwin" && { keychain: true }) };
}

export function isSignedIn({ variables, loginFile, keychain }: Auth): boolean {
  return variables.length > 0 || loginFile !== undefined || keychain === true;
}

export function describeAuth({ variables, loginFile, keychain }: Auth, { home }: DoctorContext): string {
  const signs = [
    ...(variables.length === 0
      ? []
      : [`${variables.join(", ")} ${variables.length === 1 ? "is" : "are"} set`]),
    ...(loginFile === undefined ? [] : [`a login in ${loginFile.replace(`${home}/`, "~/")}`]),
  ];
  if (signs.length > 0) return signs.join(", ");
  return keychain ? "a login in the keychain cannot be told from here" : "no sign of a login";
}
