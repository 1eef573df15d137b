import { cloud } from "./cloud.js";
import { containers } from "./containers.js";
import { databases } from "./databases.js";
import { disks } from "./disks.js";
import { environment } from "./environment.js";
import { exfiltration } from "./exfiltration.js";
import { exhaustion } from "./exhaustion.js";
import { files } from "./files.js";
import { git } from "./git.js";
import { hiddenPrograms } from "./hidden-programs.js";
import { obfuscation } from "./obfuscation.js";
import { persistence } from "./persistence.js";
import { privileges } from "./privileges.js";
import { processes } from "./processes.js";
import { protectedPaths } from "./protected-paths.js";
import { remoteAccess } from "./remote-access.js";
import type { Rule } from "./rule.js";
import { secrets } from "./secrets.js";
import { supplyChain } from "./supply-chain.js";
import { system } from "./system.js";

/** Every rule, in the order of the categories. */
export const RULES: Rule[] = [
  files,
  disks,
  exhaustion,
  exfiltration,
  remoteAccess,
  secrets,
  privileges,
  containers,
  supplyChain,
  git,
  system,
  obfuscation,
  hiddenPrograms,
  environment,
  processes,
  persistence,
  databases,
  cloud,
  protectedPaths,
];
