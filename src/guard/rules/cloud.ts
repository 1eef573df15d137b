import { hasFlag, plainArgs, valuesOf } from "../args.js";
import type { Call } from "../call.js";
import { entryOf } from "../entry.js";
import { type Judged, refuse, warn } from "../finding.js";
import { beginsAs, list, namesIn, rowOf } from "../list.js";
import type { Rule } from "./rule.js";

export const cloud: Rule = {
  category: "cloud",
  judge(call) {
    const { args } = call;
    if (args.some(isTrial)) return undefined;
    return removes(call) ? refuse(GONE) : entryOf(JUDGES, call.program)?.(call);
  },
};

function isTrial(arg: string): boolean {
  return arg.startsWith("--") && /^--(dry-?run|help|version)/i.test(arg) && !/=(false|none)$/.test(arg);
}

const GONE = "it removes what runs elsewhere";

/** Programs and what they are told first when something is to go; `+` stands between two words. */
const REMOVES = `
  gsutil rm rb mv
  bq rm
  helm uninstall delete del un
  helmfile destroy delete
  fly destroy app+destroy apps+destroy machine+destroy machines+destroy volume+destroy volume+delete volumes+destroy volumes+delete postgres+detach
  vercel rm remove env+rm project+rm domains+rm
  netlify sites:delete
  railway down delete
  wrangler delete d1+delete kv:key+delete kv:namespace+delete kv:bulk+delete kv+key+delete kv+namespace+delete kv+bulk+delete r2+bucket+delete pages+project+delete
  serverless remove
  sls remove
  cdk destroy
  cdktf destroy
  sam delete
  amplify delete
  glab repo+delete project+delete
  vault delete kv+delete kv+destroy secrets+disable operator
  consul kv+delete
  nomad job+stop stop system+gc
  argocd app+delete
  flux delete uninstall
  rclone purge delete deletefile rmdir rmdirs
  s3cmd rb del rm
  mc rb rm
`;

/** Programs whose command names what it is about before what is to be done. */
const REMOVES_ANYWHERE = `
  copilot delete
  heroku apps:destroy apps:delete destroy pg:reset addons:destroy domains:clear ps:stop
  firebase firestore:delete hosting:disable functions:delete projects:delete database:remove
`;
const MANAGERS = namesIn(`
  rancher civo exo upctl avn confluent atlas pscale neonctl yc aliyun upsun platform supabase
  eksctl kops doctl linode linode-cli hcloud vultr vultr-cli scw openstack ibmcloud oci crossplane
`);
const REMOVAL = namesIn("delete destroy purge remove rm undeploy terminate");

const VALUED = list(`
  -n --namespace --context --kube-context --profile --region --project -f -o -c -a --app
`);

function removes({ program, args }: Call): boolean {
  if (MANAGERS.has(program)) return plainArgs(args).some((word) => REMOVAL.has(word.toLowerCase()));
  const anywhere = rowOf(REMOVES_ANYWHERE, program);
  if (anywhere !== undefined) return plainArgs(args).some((word) => anywhere.includes(word));
  return beginsAs(REMOVES, program === "flyctl" ? "fly" : program, plainArgs(args, VALUED));
}

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
  az: ({ args }) =>
    /(^| )(delete|purge|deallocate|delete-batch)( |$)/.test(plainArgs(args).join(" "))
      ? refuse(GONE)
      : undefined,
  kubectl,
  oc: kubectl,
  k: kubectl,
  gh: ({ args }) =>
    isRemovalByApi(args) ||
    /^(repo (delete|archive)|release delete|secret (delete|remove)|variable delete|run delete|ssh-key (add|delete)|repo edit .*--visibility)/.test(
      args.join(" "),
    )
      ? refuse("it changes what others see or who may come in")
      : undefined,
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
  if (verb === "destroy" || verb === "destroy-all" || (verb === "run-all" && second === "destroy"))
    return refuse(GONE);
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
