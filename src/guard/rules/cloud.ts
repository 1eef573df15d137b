import { hasFlag, plainArgs, valuesOf } from "../args.js";
import type { Call } from "../call.js";
import { entryOf } from "../entry.js";
import { type Judged, refuse, warn } from "../finding.js";
import { list } from "../list.js";
import type { Rule } from "./rule.js";

export const cloud: Rule = {
  category: "cloud",
  judge(call) {
    const { args } = call;
    if (args.some((arg) => /^--(dry-?run|dryrun|help|version)/i.test(arg) && !/=(false|none)$/.test(arg)))
      return undefined;
    return entryOf(JUDGES, call.program)?.(call);
  },
};

const GONE = "it removes what runs elsewhere";
const VALUED = list(`
  -n --namespace --context --kube-context --profile --region --project -f -o -c -a --app
`);
const when = (pattern: RegExp) => (call: Call) =>
  pattern.test(plainArgs(call.args, VALUED).join(" ")) ? refuse(GONE) : undefined;
const anyWord = (pattern: RegExp) => (call: Call) =>
  plainArgs(call.args).some((word) => pattern.test(word)) ? refuse(GONE) : undefined;
const deletes = anyWord(/^(delete|destroy|purge|remove|rm|undeploy|terminate)$/i);

const JUDGES: Record<string, (call: Call) => Judged | undefined> = {
  terraform,
  tofu: terraform,
  terragrunt: terraform,
  pulumi: ({ args }) =>
    /^(destroy|stack rm|state delete|cancel)/.test(plainArgs(args).join(" ")) ||
    (args[0] === "up" && hasFlag(args, "yf", "--yes", "--skip-preview"))
      ? refuse("it changes what runs elsewhere without a question")
      : undefined,
  aws,
  gcloud: ({ args }) =>
    /(^| )(delete|remove-iam-policy-binding|destroy|reset|storage rm|disable)( |$)/.test(
      plainArgs(args).join(" "),
    )
      ? refuse(GONE)
      : undefined,
  gsutil: when(/^(-m )?(rm|rb|mv)\b/),
  bq: when(/^rm\b/),
  az: ({ args }) =>
    /(^| )(delete|purge|deallocate|delete-batch)( |$)/.test(plainArgs(args).join(" "))
      ? refuse(GONE)
      : undefined,
  kubectl,
  oc: kubectl,
  k: kubectl,
  helm: when(/^(uninstall|delete|del|un)\b/),
  helmfile: when(/^(destroy|delete)\b/),
  eksctl: deletes,
  kops: deletes,
  doctl: deletes,
  linode: deletes,
  "linode-cli": deletes,
  hcloud: deletes,
  vultr: deletes,
  "vultr-cli": deletes,
  scw: deletes,
  openstack: deletes,
  ibmcloud: deletes,
  oci: deletes,
  heroku: anyWord(/^(apps:destroy|apps:delete|destroy|pg:reset|addons:destroy|domains:clear|ps:stop)$/),
  fly: when(/^(apps? destroy|destroy|volumes? (destroy|delete)|machines? destroy|postgres detach)/),
  flyctl: (call) => JUDGES["fly"]?.(call),
  vercel: when(/^(rm|remove|env rm|project rm|domains rm)\b/),
  netlify: when(/^sites:delete/),
  railway: when(/^(down|delete)\b/),
  wrangler: when(/^(delete|d1 delete|kv:?\S* delete|r2 bucket delete|pages project delete)/),
  serverless: when(/^remove\b/),
  sls: when(/^remove\b/),
  cdk: when(/^destroy\b/),
  cdktf: when(/^destroy\b/),
  sam: when(/^delete\b/),
  amplify: when(/^delete\b/),
  copilot: anyWord(/^delete$/),
  firebase: anyWord(/^(firestore:delete|hosting:disable|functions:delete|projects:delete|database:remove)$/),
  gh: ({ args }) =>
    isRemovalByApi(args) ||
    /^(repo (delete|archive)|release delete|secret (delete|remove)|variable delete|run delete|ssh-key (add|delete)|repo edit .*--visibility)/.test(
      args.join(" "),
    )
      ? refuse("it changes what others see or who may come in")
      : undefined,
  glab: when(/^(repo|project) delete/),
  vault: when(/^(delete|kv (delete|destroy)|secrets disable|operator)\b/),
  consul: when(/^kv delete/),
  nomad: when(/^(job stop|stop|system gc)/),
  argocd: when(/^app delete/),
  flux: when(/^(delete|uninstall)/),
  rclone: when(/^(purge|delete|deletefile|rmdirs?)\b/),
  s3cmd: when(/^(rb|del|rm)\b/),
  mc: when(/^(rb|rm)\b/),
  crossplane: deletes,
};

function isRemovalByApi(args: string[]): boolean {
  if (args[0] !== "api") return false;
  return (
    valuesOf(args, "-X", "--method").some((method) => /^delete$/i.test(method)) ||
    args.some((arg) => /mutation[\s\S]*\bdelete/i.test(arg))
  );
}

function terraform({ args }: Call): Judged | undefined {
  const [verb = "", second = ""] = plainArgs(args);
  if (verb === "destroy" || (verb === "run-all" && second === "destroy")) return refuse(GONE);
  if (/^(apply|run-all)$/.test(verb) && args.some((arg) => /^--?(auto-approve|destroy)/.test(arg)))
    return refuse("it changes what runs elsewhere without a question");
  if (verb === "state" && /^(rm|push)$/.test(second)) return refuse("it loses track of what runs elsewhere");
  return /^(taint|force-unlock)$/.test(verb) || (verb === "workspace" && second === "delete")
    ? refuse(GONE)
    : undefined;
}

function aws({ args }: Call): Judged | undefined {
  const [service = "", verb = "", ...rest] = plainArgs(args, [
    "--profile",
    "--region",
    "--output",
    "--query",
    "--endpoint-url",
  ]);
  if (
    /^(delete|terminate|remove|purge|deregister|disable|detach|revoke|stop|reset|cancel|put-bucket-(acl|policy)|release|schedule-key-deletion|create-access-key|attach-(user|role)-policy|put-user-policy|create-(user|login-profile))/.test(
      verb,
    )
  )
    return refuse(GONE);
  if (service === "s3" && (/^(rb|rm)$/.test(verb) || hasFlag(rest.concat(args), "", "--delete")))
    return refuse(GONE);
  return undefined;
}

const LASTING = /^(po|pods?|jobs?|job\.batch)(\/|$)/i;

function kubectl({ args }: Call): Judged | undefined {
  const [verb = "", kind = ""] = plainArgs(args, [
    "-n",
    "--namespace",
    "--context",
    "--kubeconfig",
    "-l",
    "-f",
    "-o",
  ]);
  if (/^(drain|taint)$/.test(verb)) return refuse("it takes machines out of a cluster");
  if (verb === "replace" && hasFlag(args, "", "--force")) return refuse(GONE);
  if (verb === "scale" && args.some((arg) => arg === "--replicas=0"))
    return warn("it stops what runs elsewhere");
  if (verb === "config" && /^(delete|unset)/.test(kind)) return warn("it forgets a cluster");
  if (verb !== "delete") return undefined;
  return LASTING.test(kind) && !hasFlag(args, "A", "--all", "--all-namespaces") ? warn(GONE) : refuse(GONE);
}
