import { hasFlag, plainArgs, valuesOf } from "../args.js";
import type { Call } from "../call.js";
import { entryOf } from "../entry.js";
import { type Judged, refuse } from "../finding.js";
import { isLocal } from "./hosts.js";
import type { Rule } from "./rule.js";

export const supplyChain: Rule = {
  category: "supply-chain",
  judge(call) {
    const variable = call.assignments
      .concat(exported(call))
      .find(({ name, value }) => INDEXES.test(name) && isOpen(value));
    if (variable !== undefined)
      return refuse(`${variable.name} takes packages from a place that anybody can change`);
    if (hasFlag(call.args, "", "--dry-run", "--help")) return undefined;
    return entryOf(JUDGES, call.program)?.(call);
  },
};

const INDEXES =
  /^(npm_config_registry|PIP_INDEX_URL|PIP_EXTRA_INDEX_URL|UV_INDEX_URL|GOPROXY|YARN_REGISTRY|PIP_TRUSTED_HOST)$/i;

function exported({ program, args }: Call): { name: string; value: string }[] {
  if (program !== "export" && program !== "env") return [];
  return args.map((arg) => ({ name: arg.split("=")[0] ?? "", value: arg.slice(arg.indexOf("=") + 1) }));
}

function isOpen(address: string): boolean {
  return /^(git\+)?http:\/\//i.test(address) && !isLocal(address.replace(/^git\+/, ""));
}

const publishes = (verbs: RegExp) => (call: Call) =>
  verbs.test(plainArgs(call.args).slice(0, 2).join(" ")) ? refuse("it publishes to a registry") : undefined;

const JUDGES: Record<string, (call: Call) => Judged | undefined> = {
  npm: node,
  pnpm: node,
  yarn: node,
  bun: node,
  cargo: (call) =>
    publishes(/^(publish|yank|owner|login)\b/)(call) ??
    (valuesOf(call.args, "--index", "--registry").some(isOpen)
      ? refuse("it takes packages from a place that anybody can change")
      : undefined),
  pip: python,
  pip3: python,
  uv: python,
  python: ({ args, ...call }) =>
    args[0] === "-m" && args[1] === "pip"
      ? python({ ...call, args: args.slice(2) })
      : args[0] === "setup.py" && args.includes("upload")
        ? refuse("it publishes to a registry")
        : publishes(/^(twine|upload)\b/)({ ...call, args: args[0] === "-m" ? args.slice(1) : [] }),
  python3: (call) => JUDGES["python"]?.(call),
  twine: publishes(/^upload/),
  poetry: publishes(/^publish/),
  flit: publishes(/^publish/),
  hatch: publishes(/^publish/),
  pdm: publishes(/^publish/),
  gem: (call) =>
    publishes(/^(push|yank|owner)\b/)(call) ??
    (/^(sources|install)$/.test(call.args[0] ?? "") && call.args.some(isOpen)
      ? refuse("it takes packages from a place that anybody can change")
      : undefined),
  mvn: ({ args }) =>
    args.some((arg) => /^(deploy|release:perform)$/.test(arg))
      ? refuse("it publishes to a registry")
      : undefined,
  gradle: ({ args }) =>
    args.some((arg) => /^:?([\w-]+:)*publish(?!ToMavenLocal)\w*$/.test(arg))
      ? refuse("it publishes to a registry")
      : undefined,
  gradlew: (call) => JUDGES["gradle"]?.(call),
  dotnet: publishes(/^nuget push/),
  nuget: publishes(/^push/),
  vsce: publishes(/^publish/),
  ovsx: publishes(/^publish/),
  jsr: publishes(/^publish/),
  deno: publishes(/^publish/),
  lerna: publishes(/^publish/),
  "semantic-release": () => refuse("it publishes to a registry"),
  np: () => refuse("it publishes to a registry"),
  "release-it": () => refuse("it publishes to a registry"),
  changeset: publishes(/^publish/),
  pod: publishes(/^trunk push/),
  mix: publishes(/^hex\.publish/),
  helm: publishes(/^push/),
  go: ({ args }) =>
    args[0] === "env" &&
    hasFlag(args, "w") &&
    args.some((arg) => /^(GOPROXY|GONOSUMDB|GONOSUMCHECK|GOFLAGS|GOINSECURE|GOSUMDB|GOPRIVATE)=/.test(arg))
      ? refuse("it changes where packages come from")
      : undefined,
  composer: ({ args }) =>
    args[0] === "config" && args.some((arg) => /^repo/.test(arg))
      ? refuse("it changes where packages come from")
      : undefined,
};

const SETTINGS =
  /(registry|authtoken|_auth\b|_password|npmRegistryServer|proxy|cafile|strict-ssl|script-shell|node-options|\/\/)/i;

function node(call: Call): Judged | undefined {
  const { args } = call;
  const words = plainArgs(args, ["-w", "--workspace", "-C", "--prefix", "--filter", "--registry", "--tag"]);
  const [verb = "", ...rest] = words[0] === "npm" ? words.slice(1) : words;
  if (
    /^(publish|unpublish|deprecate|owner|access|dist-tag|token|adduser|hook|star|team|profile)$/.test(verb) &&
    !/^(ls|list|get)$/.test(rest[0] ?? "")
  )
    return refuse("it publishes to a registry or changes what is there");
  const isSetting =
    (/^(config|c)$/.test(verb) && /^(set|delete|edit)$/.test(rest[0] ?? "")) || verb === "set";
  if (isSetting && rest.some((word) => SETTINGS.test(word)))
    return refuse("it changes where packages come from");
  const isFromOpen = valuesOf(args, "--registry").some((address) => isOpen(address)) || rest.some(isOpen);
  return isFromOpen ? refuse("it takes packages from a place that anybody can change") : undefined;
}

function python({ args }: Call): Judged | undefined {
  const words = plainArgs(args);
  if (words[0] === "publish") return refuse("it publishes to a registry");
  if (words[0] === "config" && words[1] === "set") return refuse("it changes where packages come from");
  const indexes = valuesOf(
    args,
    "-i",
    "--index-url",
    "--extra-index-url",
    "--index",
    "--default-index",
    "-f",
    "--find-links",
  );
  const isTrusted = valuesOf(args, "--trusted-host").some((host) => !isLocal(host));
  return isTrusted || [...indexes, ...words].some(isOpen)
    ? refuse("it takes packages from a place that anybody can change")
    : undefined;
}
