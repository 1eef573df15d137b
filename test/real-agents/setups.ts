export type RealAgent = "claude" | "codex" | "opencode" | "gemini" | "amp";

interface Setup {
  /** What makes it ask the model of the test, try nothing twice, and talk to nobody else. */
  env(url: string): NodeJS.ProcessEnv;
  /** Files below the home folder. */
  home?(url: string): Record<string, string>;
  /** What ralph is told about it, beside its name. */
  settings?: Record<string, unknown>;
}

/** Codex reads no variable for its provider, and its own sandbox does not work inside of every container. */
const CODEX = (url: string) => `model = "gpt-5.5"
model_provider = "scripted"
approval_policy = "never"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false

[analytics]
enabled = false

[features]
plugins = false
apps = false
remote_plugin = false
`;

const OPENCODE = (url: string) => ({
  provider: {
    scripted: {
      npm: "@ai-sdk/openai-compatible",
      name: "scripted",
      options: { baseURL: `${url}/v1`, apiKey: "dummy" },
      models: { scripted: { name: "scripted", tool_call: true, limit: { context: 200_000, output: 8000 } } },
    },
  },
  model: "scripted/scripted",
  small_model: "scripted/scripted",
  share: "disabled",
  autoupdate: false,
});

const GEMINI = {
  security: { auth: { selectedType: "gemini-api-key" } },
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false, maxAttempts: 1 },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
};

export const SETUPS: Record<RealAgent, Setup> = {
  claude: {
    env: (url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "sk-dummy",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      CLAUDE_CODE_MAX_RETRIES: "0",
      DISABLE_AUTOUPDATER: "1",
    }),
  },
  codex: {
    env: () => ({ SCRIPTED_KEY: "dummy" }),
    home: (url) => ({ ".codex/config.toml": CODEX(url) }),
    settings: { permissions: "all" },
  },
  opencode: {
    env: (url) => ({
      NPM_CONFIG_REGISTRY: url,
      // Names the host that it has to reach.
      OPENAI_BASE_URL: url,
      OPENCODE_CONFIG_CONTENT: JSON.stringify(OPENCODE(url)),
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
    }),
  },
  gemini: {
    env: (url) => ({ GEMINI_API_KEY: "dummy", GOOGLE_GEMINI_BASE_URL: url }),
    home: () => ({ ".gemini/settings.json": JSON.stringify(GEMINI) }),
    settings: { model: "gemini-2.5-pro" },
  },
  amp: {
    env: (url) => ({ AMP_URL: url, AMP_API_KEY: "sgamp_dummy", AMP_SKIP_UPDATE_CHECK: "1" }),
  },
};

/** Everything that goes to another host than this one ends at the model, which writes it down. */
export function toNobodyElse(url: string): NodeJS.ProcessEnv {
  return {
    SHELL: "/bin/bash",
    HTTP_PROXY: url,
    HTTPS_PROXY: url,
    http_proxy: url,
    https_proxy: url,
    NO_PROXY: "127.0.0.1",
  };
}

/** What makes an agent one of a subscriber, who is told when a limit ends. */
export const SUBSCRIBED: Partial<Record<RealAgent, NodeJS.ProcessEnv>> = {
  claude: { ANTHROPIC_API_KEY: undefined, CLAUDE_CODE_OAUTH_TOKEN: "sk-ant-oat01-dummy" },
};
