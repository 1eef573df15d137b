import { hasFlag } from "../args.js";
import type { Call } from "../call.js";
import { entryOf } from "../entry.js";
import { type Judged, refuse } from "../finding.js";
import { resolvePath } from "../paths.js";
import type { Rule } from "./rule.js";

const ALWAYS =
  /^(mkfs(\..+)?|mke2fs|mkswap|mkdosfs|newfs\w*|cfdisk|gdisk|sgdisk|blkdiscard|partprobe|grub2?-(install|mkconfig)|update-grub2?|efibootmgr|bootctl|lilo|resize2fs|tune2fs|xfs_\w+|e2label|(lv|vg|pv)(remove|create|reduce|extend|resize|rename)|mdadm|dmsetup|losetup|swapo(n|ff)|e2fsck|ntfsfix|bcdedit|diskpart|format)$/;

/** Flags and words that make a disk tool look and not touch. */
const LOOKS: Record<string, RegExp> = {
  fdisk: /^(-l|--list|-v|--version|-s)$/,
  sfdisk: /^(-l|--list|-d|--dump|-J|--json)$/,
  parted: /^(-l|--list|print)$/,
  cryptsetup: /^(status|luksDump|isLuks|--version)$/,
  hdparm: /^-[iI]$/,
  fsck: /^-[nN]$/,
  hdiutil: /^(info|attach|mount|create|detach|verify|imageinfo|convert)$/,
  diskutil: /^(list|info|apfs)$/,
  zpool: /^(status|list|get|iostat)$/,
  zfs: /^(list|get)$/,
  btrfs: /^(show|usage|list|df)$/,
  nvme: /^(list|smart-log|id-ctrl)$/,
  badblocks: /^-n$/,
  debugfs: /^-R$/,
};

export const disks: Rule = {
  category: "disks",
  judge(call) {
    if (ALWAYS.test(call.program) && !hasFlag(call.args, "", "--help", "--version"))
      return refuse(`${call.program} changes disks or the way the machine starts`);
    const looks = entryOf(LOOKS, call.program);
    if (looks !== undefined && !call.args.some((arg) => looks.test(arg)))
      return refuse(`${call.program} changes disks`);
    return rawReading(call);
  },
};

const RAW =
  /^\/dev\/(sd[a-z]|hd[a-z]|vd[a-z]|xvd[a-z]|nvme\d|mmcblk\d|dm-\d|disk\d|rdisk\d|mapper\/|md\d|loop\d|mem$|kmem$|port$)/;

function rawReading({ args, redirections, scope, program }: Call): Judged | undefined {
  if (/^(ls|stat|file|echo|printf|lsblk|blkid|findmnt|df|test|\[)$/.test(program)) return undefined;
  const paths = [
    ...args.map((arg) => arg.replace(/^(if|of)=/, "")),
    ...redirections.map(({ target }) => target),
  ];
  const raw = paths.find((path) => path.includes("/dev/") && RAW.test(resolvePath(path, scope)));
  return raw === undefined ? undefined : refuse(`${raw} is a disk or the memory itself`);
}
