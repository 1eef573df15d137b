import type { Category } from "./finding.js";
import type { Listed } from "./listed-paths.js";

export interface Protected extends Listed {
  category: Category;
  what: string;
}

/** The first that fits names the category. */
export const PROTECTED: Protected[] = [
  { category: "remote-access", what: "it lets others log in", patterns: "**/.ssh/authorized_keys*" },
  {
    category: "privileges",
    what: "it says who may become root",
    patterns: "/etc/sudoers /etc/sudoers.d/** /etc/doas.conf",
  },
  {
    category: "persistence",
    what: "it is run again later",
    patterns: `
      /etc/cron*/** /etc/crontab /var/spool/cron/** /var/spool/at/**
      /etc/systemd/** /lib/systemd/** /usr/lib/systemd/** ~/.config/systemd/** ~/.local/share/systemd/**
      /etc/init.d/** /etc/rc.local
      **/launchagents/** **/launchdaemons/** ~/.config/autostart/** /etc/xdg/autostart/**
      ~/.local/share/autostart/**
    `,
  },
  {
    category: "persistence",
    what: "git runs it",
    patterns: "**/.git/hooks/** **/.git/modules/** **/.husky/**",
  },
  { category: "persistence", what: "an editor runs it", patterns: "**/.vscode/tasks.json" },
  {
    category: "persistence",
    what: "a program runs it when it starts",
    patterns:
      "~/.tmux.conf ~/.config/tmux/** ~/.gdbinit ~/.lldbinit ~/.vim/** ~/.config/nvim/** ~/.emacs ~/.emacs.d/**",
  },
  {
    category: "persistence",
    what: "it steers a coding agent",
    patterns: `
      **/.claude/** **/.cursor/** **/.codex/** **/.gemini/** ~/.config/opencode/** ~/.config/amp/**
      ~/.claude.json **/.mcp.json
    `,
  },
  {
    category: "protected-paths",
    what: "it steers git",
    patterns: `
      **/.git/config **/.git/config.worktree **/.git/commondir **/.git/gitdir **/.git/info/attributes
      **/.git/worktrees/*/commondir **/.git/worktrees/*/gitdir **/.git/worktrees/*/config.worktree
      ~/.gitconfig ~/.config/git/**
    `,
  },
  {
    category: "git",
    what: "it is the history of the project",
    patterns: `
      **/.git **/.git/objects/** **/.git/refs/** **/.git/head **/.git/packed-refs **/.git/logs/**
    `,
  },
  {
    category: "protected-paths",
    what: "it holds credentials",
    patterns: `
      ~/.ssh/** ~/.aws/** ~/.gnupg/** ~/.kube/** ~/.azure/** ~/.password-store/** ~/.config/gcloud/**
      ~/.config/gh/** ~/.config/op/** ~/.docker/** ~/.oci/**
      ~/.netrc ~/.npmrc ~/.pypirc ~/.pgpass ~/.my.cnf ~/.git-credentials ~/.cargo/credentials
      ~/.cargo/credentials.toml ~/.cargo/config.toml ~/.gem/credentials ~/.vault-token ~/.pip/pip.conf
      ~/.config/pip/pip.conf ~/.yarnrc ~/.yarnrc.yml ~/.m2/settings.xml
      /root/.ssh/** /home/*/.ssh/** /home/*/.aws/** /home/*/.gnupg/** /home/*/.kube/** /users/*/.ssh/**
    `,
  },
  {
    category: "system",
    what: "every shell reads it",
    patterns: `
      ~/.bashrc ~/.bash_profile ~/.bash_login ~/.bash_logout ~/.bash_aliases ~/.profile ~/.zshrc ~/.zshenv
      ~/.zprofile ~/.zlogin ~/.zlogout ~/.kshrc ~/.cshrc ~/.tcshrc ~/.login ~/.xprofile ~/.xinitrc
      ~/.xsession ~/.inputrc ~/.pam_environment ~/.config/fish/**
      /root/.*rc /root/.*profile /home/*/.*rc /home/*/.*profile /users/*/.*rc
      /etc/profile /etc/profile.d/** /etc/bash.bashrc /etc/zsh/** /etc/environment /etc/ld.so.preload
    `,
  },
  { category: "processes", what: "it is the kernel's", patterns: "/proc/** /sys/**" },
  { category: "disks", what: "the machine starts from it", patterns: "/boot/** /efi/**" },
  {
    category: "system",
    what: "it is system configuration",
    patterns: `
      /etc/hosts /etc/resolv.conf /etc/sysctl.conf /etc/sysctl.d/** /etc/fstab /etc/passwd /etc/shadow
      /etc/group
    `,
  },
  {
    category: "protected-paths",
    what: "it belongs to the system",
    patterns: `
      / /etc/** /usr/** /bin/** /sbin/** /lib/** /lib32/** /lib64/** /opt/** /var/** /srv/** /root/**
      /system/** /library/** /applications/** /private/etc/** /private/var/** /snap/** /nix/**
    `,
  },
];
