/** Addresses that Codex asks by its own settings, `config.toml`: of model providers, and of nothing else in there. */
export function providerUrls(settings: string): string[] {
  let section = "";
  return settings.split("\n").flatMap((line) => {
    section = /^\s*\[+\s*([^\]]*)/.exec(line)?.[1] ?? section;
    const [, name = "", url = ""] = /^\s*(\w+)\s*=\s*["']([^"']*)["']/.exec(line) ?? [];
    return isProvider(section, name) ? [url] : [];
  });
}

function isProvider(section: string, name: string): boolean {
  if (/^model_providers\s*\./.test(section)) return name === "base_url";
  return /^(profiles\s*\..*)?$/.test(section) && /^(openai|chatgpt)_base_url$/.test(name);
}
