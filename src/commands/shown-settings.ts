import { createRedactor, redactDeep } from "../records/redact.js";
import type { Settings } from "../settings/schema.js";

/** Settings as they may be shown. Variables for an agent are most often keys, whatever they are called. */
export function withoutSecrets(settings: Settings): Settings {
  const { agent, agents, notify } = settings;
  const hidden = {
    ...settings,
    ...(notify?.webhook && { notify: { ...notify, webhook: hostOf(notify.webhook) } }),
    ...(agent && { agent: withoutValues(agent) }),
    ...(agents && {
      agents: Object.fromEntries(
        Object.entries(agents).map(([name, profile]) => [name, withoutValues(profile)]),
      ),
    }),
  };
  return redactDeep(hidden, createRedactor(process.env));
}

/** The rest of an address is most often a key. */
function hostOf(address: string): string {
  return `${new URL(address).origin}/[redacted]`;
}

function withoutValues<Profile extends { env?: Record<string, string> | undefined }>(
  profile: Profile,
): Profile {
  if (profile.env === undefined) return profile;
  const names = Object.keys(profile.env).map((name) => [name, "[redacted]"]);
  return { ...profile, env: Object.fromEntries(names) };
}
