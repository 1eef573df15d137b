import { hasFlag, plainArgs, valuesOf } from "../args.js";
import { type Call, programOf } from "../call.js";
import { entryOf } from "../entry.js";
import { type Judged, refuse } from "../finding.js";
import { beginsAs, namesIn } from "../list.js";
import { printedBy } from "../output.js";
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
    if (
      call.redirections.some(({ target }) => SETTINGS_FILES.has(programOf(target))) &&
      isOpenIn(printedBy(call).text)
    )
      return refuse("it takes packages from a place that anybody can change");
    if (hasFlag(call.args, "", "--dry-run", "--help")) return undefined;
    if (beginsAs(PUBLISHES, call.program, plainArgs(call.args))) return refuse("it publishes to a registry");
    return entryOf(JUDGES, call.program)?.(call);
  },
};

/** Programs and what they are told first when they publish; those without a word do nothing else. */
const PUBLISHES = `
  cargo publish yank owner login
  gem push yank owner
  twine upload
  poetry publish
  flit publish
  hatch publish
  pdm publish
  dotnet nuget+push
  nuget push
  vsce publish
  ovsx publish
  jsr publish
  deno publish
  lerna publish
  changeset publish
  pod trunk+push
  mix hex.publish
  rebar3 hex+publish
  sbt publish publishSigned
  lein deploy
  dart pub+publish
  flutter pub+publish
  elm publish
  cabal upload
  stack upload
  luarocks upload
  conan upload
  anaconda upload
  opam publish
  maturin publish upload
  wasm-pack publish
  ansible-galaxy collection+publish role+import
  snapcraft upload push
  web-ext sign
  oras push
  helm push
  semantic-release
  np
  release-it
`;

const SETTINGS_FILES = namesIn(".npmrc .yarnrc .yarnrc.yml pip.conf .pypirc bunfig.toml .gemrc");

function isOpenIn(text: string | undefined): boolean {
  return text?.split(/[\s="']+/).some(isOpen) ?? false;
}

const INDEXES =
  /^(npm_config_registry|PIP_INDEX_URL|PIP_EXTRA_INDEX_URL|UV_INDEX_URL|GOPROXY|YARN_REGISTRY|PIP_TRUSTED_HOST)$/i;

function exported({ program, args }: Call): { name: string; value: string }[] {
  if (program !== "export" && program !== "env") return [];
  return args.map((arg) => ({ name: arg.split("=")[0] ?? "", value: arg.slice(arg.indexOf("=") + 1) }));
}

function isOpen(address: string): boolean {
  const lower = address.toLowerCase();
  const plain = lower.startsWith("git+") ? lower.slice(4) : lower;
  return plain.startsWith("http://") && !isLocal(plain);
}

const JUDGES: Record<string, (call: Call) => Judged | undefined> = {
  npm: node,
  pnpm: node,
  yarn: node,
  bun: node,
  cargo: ({ args }) =>
    valuesOf(args, "--index", "--registry").some(isOpen)
      ? refuse("it takes packages from a place that anybody can change")
      : undefined,
  pip: python,
  pip3: python,
  uv: python,
  python: ({ args, ...call }) =>
    args[0] === "-m" && args[1] === "pip"
      ? python({ ...call, args: args.slice(2) })
      : (args[0] === "setup.py" && args.includes("upload")) || (args[0] === "-m" && args[1] === "twine")
        ? refuse("it publishes to a registry")
        : undefined,
  python3: (call) => JUDGES["python"]?.(call),
  gem: ({ args }) =>
    /^(sources|install)$/.test(args[0] ?? "") && args.some(isOpen)
      ? refuse("it takes packages from a place that anybody can change")
      : undefined,
  mvn: ({ args }) =>
    args.some((arg) => /^(deploy|release:perform)$/.test(arg))
      ? refuse("it publishes to a registry")
      : undefined,
  gradle: ({ args }) =>
    args.some((arg) => /^:?([\w-]+:)*publish(?!ToMavenLocal)\w*$/.test(arg))
      ? refuse("it publishes to a registry")
      : undefined,
  gradlew: (call) => JUDGES["gradle"]?.(call),
  bundle: ({ args }) =>
    args[0] === "config" && args.some(isOpen)
      ? refuse("it takes packages from a place that anybody can change")
      : undefined,
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

const CHANGES = namesIn(
  "publish unpublish deprecate owner access dist-tag token adduser hook star team profile",
);

function node(call: Call): Judged | undefined {
  const { args } = call;
  const words = plainArgs(args, ["-w", "--workspace", "-C", "--prefix", "--filter", "--registry", "--tag"]);
  const [verb = "", ...rest] = words[0] === "npm" ? words.slice(1) : words;
  const [what = ""] = rest;
  if (CHANGES.has(verb) && !["ls", "list", "get"].includes(what))
    return refuse("it publishes to a registry or changes what is there");
  const isSetting =
    verb === "set" || (["config", "c"].includes(verb) && ["set", "delete", "edit"].includes(what));
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
