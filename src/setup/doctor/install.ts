import { which } from "../../process/which.js";
import type { DoctorContext } from "./context.js";

const MANAGERS: [program: string, command: string][] = [
  ["apt-get", "apt-get install"],
  ["dnf", "dnf install"],
  ["pacman", "pacman -S"],
  ["zypper", "zypper install"],
  ["apk", "apk add"],
];

/** The command that installs a package here. */
export function installCommand(context: DoctorContext, name: string): string {
  const { platform, env, workspace } = context;
  if (platform === "darwin") return `brew install ${name}`;
  const manager = MANAGERS.find(([program]) => which(program, workspace, env["PATH"]).status === "found");
  if (manager === undefined) return `install ${name}`;
  return asAdmin(context, `${manager[1]} ${name}`);
}

export function asAdmin({ uid }: DoctorContext, command: string): string {
  return uid === 0 ? command : `sudo ${command}`;
}
