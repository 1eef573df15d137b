import { hasFlag } from "../args.js";
import type { Call } from "../call.js";
import { type Judged, refuse } from "../finding.js";
import { namesIn, rowOf } from "../list.js";
import { resolvePath } from "../paths.js";
import type { Rule } from "./rule.js";

const ALWAYS = namesIn(`
  mkfs mke2fs mkswap mkdosfs cfdisk gdisk sgdisk blkdiscard partprobe grub-install grub-mkconfig
  grub2-install grub2-mkconfig update-grub update-grub2 efibootmgr bootctl lilo resize2fs tune2fs e2label mdadm
  dmsetup losetup swapon swapoff e2fsck ntfsfix bcdedit diskpart format
  lvremove lvcreate lvreduce lvextend lvresize lvrename vgremove vgcreate vgreduce vgextend vgresize vgrename
  pvremove pvcreate pvreduce pvextend pvresize pvrename
`);
const FAMILIES = ["mkfs.", "newfs", "xfs_"];

/** Flags and words that make a disk tool look and not touch. */
const LOOKS = `
  fdisk -l --list -v --version -s
  sfdisk -l --list -d --dump -J --json
  parted -l --list print
  cryptsetup status luksDump isLuks --version
  hdparm -i -I
  fsck -n -N
  hdiutil info attach mount create detach verify imageinfo convert
  diskutil list info apfs
  zpool status list get iostat
  zfs list get
  btrfs show usage list df
  nvme list smart-log id-ctrl
  badblocks -n
  debugfs -R
`;

export const disks: Rule = {
  category: "disks",
  judge(call) {
    if (isDiskTool(call.program) && !hasFlag(call.args, "", "--help", "--version"))
      return refuse(`${call.program} changes disks or the way the machine starts`);
    const looks = rowOf(LOOKS, call.program);
    if (looks !== undefined && !call.args.some((arg) => looks.includes(arg)))
      return refuse(`${call.program} changes disks`);
    return rawReading(call);
  },
};

const RAW =
  /^\/dev\/(sd[a-z]|hd[a-z]|vd[a-z]|xvd[a-z]|nvme\d|mmcblk\d|dm-\d|disk\d|rdisk\d|mapper\/|md\d|loop\d|mem$|kmem$|port$)/;

const SHOWS = namesIn("ls stat file echo printf lsblk blkid findmnt df test [");

function isDiskTool(program: string): boolean {
  return ALWAYS.has(program) || FAMILIES.some((start) => program.startsWith(start));
}

function rawReading({ args, redirections, scope, program }: Call): Judged | undefined {
  if (SHOWS.has(program)) return undefined;
  const paths = [
    ...args.map((arg) => (arg.startsWith("if=") || arg.startsWith("of=") ? arg.slice(3) : arg)),
    ...redirections.map(({ target }) => target),
  ];
  const raw = paths.find((path) => path.includes("/dev/") && RAW.test(resolvePath(path, scope)));
  return raw === undefined ? undefined : refuse(`${raw} is a disk or the memory itself`);
}
