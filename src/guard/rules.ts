import type { Category } from "./finding.js";

/**
 * What programs must not be asked to do: commands, and after `=` the reason why they are refused, or after `=?` why they
 * are warned of; `{}` is the name of the program. A command is `program condition …`, and all conditions must hold:
 *
 * - `word`, `a|b`: the next argument that is no option; `*`: any; `^re`: it fits; `..a|b`: some such argument
 * - `-f|--force`: one of the flags is given; `-o~re`: one of its values fits
 * - `~re`: some argument fits; `~~re`: all arguments as one text fit, in any case
 * - `@name`: a predicate of `rows.ts`; `!` in front turns a condition round
 */
export const RULES: Partial<Record<Category, string>> = {
  files: `
    srm|shred|wipe|wipefs = it destroys files so that nothing brings them back
    rm|rmdir --no-preserve-root = it would remove the root folder
    mv ~^/dev/null$ = what is moved to /dev/null is lost
  `,
  disks: `
    mkfs|mke2fs|mkswap|mkdosfs|cfdisk|gdisk|sgdisk|blkdiscard|partprobe|grub-install|grub-mkconfig|update-grub,
    lilo|efibootmgr|bootctl|resize2fs|tune2fs|mdadm|dmsetup|losetup|swapon|swapoff|e2fsck|bcdedit|diskpart,
    lvremove|lvcreate|lvreduce|vgremove|vgcreate|vgreduce|pvremove|pvcreate
      = {} changes disks or the way the machine starts
    fdisk|sfdisk !-l|--list|-d|--dump|-J|--json|-v|-s, parted !-l|--list !..print, hdparm !-i|-I, fsck !-n|-N,
    cryptsetup !status|luksDump|isLuks, diskutil !list|info|apfs, zpool|zfs !status|list|get|iostat
      = {} changes disks
  `,
  exhaustion: `
    yes @endless = yes without an end to it
    fallocate|truncate|head|mkfile @huge, openssl rand @huge = it would fill the disk
    dd @fills = it writes until the disk is full
    cat|cp|tee|tail|sort|gzip|xz @pours = it reads what never ends
  `,
  exfiltration: String.raw`
    curl|wget|http @uploads = {}
    scp|rsync @to-remote = it sends files to another machine
    rclone !ls|lsd|lsl|lsf|size|config|version|check,
    sftp|ftp|tftp|lftp|smbclient|croc|wormhole|mail|mailx|mutt|sendmail = it sends files elsewhere
    python -m~^(http\.server|SimpleHTTPServer|pyftpdlib|uploadserver)$ !--bind|-b~^(localhost$|127\.|::1)
      = it serves files to everybody; bind it to 127.0.0.1
    php -S~^(?!localhost|127\.), ruby ~^-run$, ruby ~^-.*httpd, busybox httpd, git daemon
      = it serves files to everybody
    openssl s_client @feeds-remote, ssh @feeds-remote = it sends what it reads to another machine
    gh gist create|edit = it publishes files
    nmap|masscan|zmap|nikto|hydra|sqlmap|ettercap|arpspoof|tcpdump|tshark|gobuster|ffuf|rustscan|wpscan|nping
      = {} looks into other machines or their traffic
    git push ~^(https?|git|ssh)://(?!localhost|127\.)|^[\w.-]+@[\w.-]+:
      = it pushes to an address that is no remote of the project
    deno|bun run|test|install|serve ~^https?://(?!localhost|127\.), node ~^https?:// = it runs what it fetches
  `,
  "remote-access": String.raw`
    ngrok|localtunnel|lt|bore|frpc|frps|chisel|autossh|sshuttle|sshd|dropbear|telnetd|vncserver|tmate|gotty|ttyd,
    ssh-copy-id|msfvenom|msfconsole|rlogin|rsh|wg-quick|openvpn, cloudflared !update|login,
    tailscale up|funnel|serve|ssh|set, code tunnel, devtunnel host = {} opens this machine to others
    nc -e|-c|--exec|--sh-exec|--lua-exec, socat ~~(^|\s)(exec|system|shell):
      = {} gives a program to whoever connects
    nc -l|--listen = it waits for connections
    nc !-z|-U|-l|-h @elsewhere-host, telnet @elsewhere-host,
    socat ~~\b(tcp|udp|openssl|ssl|sctp)[\w-]*:(?!localhost|127\.|\[::1)
      = it connects to another machine
    ssh -R|-L|-D|-w, ssh -o~^(Remote|Local|Dynamic)Forward|^Tunnel|^PermitLocalCommand
      = it forwards ports between machines
  `,
  secrets: String.raw`
    env|printenv|set|export|declare @bare, compgen -e|-v
      = it shows every variable, with the secrets among them
    printenv @secret-name, echo|printf|print|say|logger|wall @secret-shown
      = it shows a secret variable
    history !-c, fc -l = the history of a shell holds secrets
    gh auth token, gh auth status --show-token, git ^credential, npm token list|ls|create,
    npm config get ~_(authToken|password|auth)$, aws configure get|export-credentials, aws ssm --with-decryption,
    aws * get-secret-value|get-session-token|get-login-password|get-authorization-token,
    gcloud|az ~~print-(access|identity)-token|secrets\sversions\saccess|get-access-token|secret\s(show|download),
    kubectl get|describe|view ^secrets?(/|$) -o~^(?!name$|wide$), kubectl config --raw, op read, op item get,
    vault read, vault kv get, pass show, secret-tool, heroku config|auth:token|config:get,
    security find-generic-password|find-internet-password|dump-keychain|export, gpg ~^--export-secret
      = it shows secrets
  `,
  privileges: String.raw`
    sudo|su|run0|doas|pkexec|runuser|gosu|su-exec|sudoedit|visudo|systemd-run
      = {} runs as another user
    chmod ~^([ugoa]*[+=][rwxXt]*,)*[ugoa]*[+=][rwxXt]*s, chmod ~^0*[2-7]\d{3}$,
    install -m|--mode~^(0*[2-7]\d{3}$|[ugoa]*[+=]\w*s) = it lets a program run as its owner
    setcap|capsh|setpriv|newgrp|sg, osascript ~administrator\sprivileges = {} changes rights
    chown ^(root|0)(:|$) = it gives files to root
  `,
  containers: String.raw`
    docker run|create|exec|up|service|container|compose --privileged !~^--privileged=false$
      = a privileged container has all rights on this machine
    docker --pid|--ipc|--uts|--userns|--cgroupns~^host$ = the container shares namespaces with this machine
    docker --cap-add~^(CAP_)?(ALL|SYS_\w+|DAC_\w+|NET_ADMIN|NET_RAW|SETUID|MKNOD)$, docker --allow~insecure,
    docker --security-opt~unconfined|disable, docker --device~^(?!/dev/(dri|kvm|snd|video|null|fuse))
      = the container gets rights on this machine
    docker run|create|service|container|compose|up @mounts = the container gets files of this machine
    nsenter|unshare, kubectl ..nsenter = it enters other namespaces
    chroot|pivot_root = it changes the root folder
    mount !@none !-l|-V, umount = it mounts or unmounts file systems
    kubectl ~"?(hostPID|hostNetwork|privileged|hostPath)"?\s*[:=], kubectl --privileged, kubectl debug ~^node/
      = it gets rights on the machine of a cluster
    docker volume|system prune|rm, docker down -v|--volumes, docker compose down -v|--volumes
      =? it removes what containers keep
  `,
  "supply-chain": String.raw`
    cargo publish|yank|owner|login, gem push|yank|owner, twine upload, python -m~^twine$, python setup.py ..upload,
    poetry|flit|hatch|pdm|vsce|ovsx|jsr|deno|lerna|changeset|maturin|wasm-pack|uv publish, npm npm publish,
    dotnet nuget push, nuget push, pod trunk push, mix hex.publish, dart|flutter pub publish, helm push,
    semantic-release|release-it|np, mvn ..deploy|release:perform,
    gradle ~^:?([\w-]+:)*publish(?!ToMavenLocal)\w*$ = it publishes to a registry
    npm|bun publish|unpublish|deprecate|owner|access|dist-tag|token|adduser|hook|team|profile !..ls|list|get
      = it publishes to a registry or changes what is there
    npm config|c set|delete|edit ~([rR]egistry|auth[tT]oken|_auth\b|_password|proxy|cafile|script-shell|//),
    npm set ~(registry|authtoken|_auth\b|script-shell|//), pip|uv config set, composer config ~^repo,
    go env -w ~^(GOPROXY|GONOSUMDB|GOFLAGS|GOINSECURE|GOSUMDB|GOPRIVATE)=
      = it changes where packages come from
    npm|pip|uv|cargo|gem|bundle @open-index, python -m~^pip$ @open-index,
    pip|uv --trusted-host~^(?!localhost|127) = it takes packages from a place that anybody can change
  `,
  git: String.raw`
    git push -f|--force|--mirror|--prune !-n|--dry-run, git push ~^\+ !-n|--dry-run,
    git push --force-with-lease|--force-if-includes @to-main = it overwrites what others have pushed
    git push --receive-pack|--exec, git ~^ext:: = it makes git run a program
    git push @main-gone !-n|--dry-run = it removes a branch that others work on
    git push --force-with-lease|--force-if-includes !@to-main =? it overwrites what was pushed
    git push -d|--delete !@main-gone, git push ~^: !@main-gone =? it removes a branch for everybody
    git branch -D @main, git branch -d|--delete -f|--force @main = it removes a main branch
    git filter-branch|filter-repo, git-filter-repo|bfg = it rewrites the history
    git update-ref -d|--stdin, git update-ref * ^0+$ = it removes branches behind git's back
    git reflog expire|delete = it removes the way back to lost commits
    git @steering = a setting makes git run programs or give away logins
    git config --system !--get|--list|-l = it changes git for everybody on this machine
    git reset --hard|--merge, git switch -f|--force|--discard-changes, git checkout -f|--force,
    git checkout|restore ~^(\.|:/|\*|\./)$ !-p|--patch|--ours|--theirs|-S|--staged, git worktree remove -f|--force
      =? what is not committed is lost
    git clean -f|--force -C ~^(\.\.|/|~) !-n|--dry-run = it removes files of another project
    git clean -f|--force !-n|--dry-run =? files that git does not know are lost
    git stash drop|clear =? what was put aside is lost
    git gc ~^--prune=(now|all), git prune =? lost commits cannot be brought back after it
    git remote set-url|remove|rm =? it changes where the project is pushed to
  `,
  system: String.raw`
    useradd|adduser|usermod|userdel|deluser|groupadd|groupmod|groupdel|delgroup|gpasswd|passwd|chpasswd|chsh|chfn,
    vipw|update-rc.d|chkconfig|setenforce|apt-key|add-apt-repository|netplan|nmcli|csrutil|spctl|nvram|scutil,
    networksetup|dscl|hwclock|update-alternatives|update-initramfs|loginctl|firewall-cmd|pfctl|reg|schtasks|nft,
    iptables-restore|ip6tables-restore, ufw !status|version|show, service * !status|start !@none !--status-all,
    systemctl !@none !^(status|start|is-|list-|show|cat|get-default|help), launchctl !@none !list|print,
    hostnamectl|timedatectl|localectl|resolvectl !@none !^(status|show|list|query|statistics),
    defaults !read|find|domains|read-type, crontab !-l|-V = {} changes the system
    sysctl -w|-p|--write|--load|--system, sysctl ~= = it changes the kernel
    hostname ^., iptables|ip6tables !-L|-S|--list, ip|tc ..add|del|delete|set|flush|replace|change,
    ifconfig ..up|down|netmask|add|del, ifconfig * ~^\d+\.\d+, route ..add|del|delete|flush|change
      = it changes the network
    apt|yum|dnf|zypper remove|purge|autoremove|erase|dist-upgrade|full-upgrade, pacman ~^-R,
    dpkg -r|-P|--remove|--purge|--force-all = it removes programs of the system
  `,
  processes: `
    killall|killall5|reboot|shutdown|halt|poweroff|telinit|insmod|modprobe|rmmod|depmod|kexec|pm-suspend|kmod|skill
      = {} ends or changes what does not belong to the project
    kill @first-process, fuser -k|--kill ~^/[^/]*$ = it ends every process, or the first one
    pkill @wide = it ends processes of all kinds
    init ^[0-6sS]$ = it ends the system
    dmesg -C|-c|-D|-n|--clear, gdb -p|--pid = it takes hold of the kernel or of another process
  `,
  persistence: `
    at !-l|-V, batch, crontab ^., pm2 startup = it runs something later
    claude|codex|gemini mcp|config|plugin|extensions add|set|remove|install|add-json|enable|update|marketplace
      = it changes the settings of a coding agent
  `,
  databases: String.raw`
    psql|pgcli|mysql|mycli|sqlite3|mongo|redis-cli|sqlcmd|cockroach|clickhouse-client|duckdb|cqlsh|bq @sql-refused,
    snowsql|sqlplus|wrangler|turso|supabase|docker|kubectl|heroku|fly|ssh @sql-refused
      = it removes or empties what is in a database
    dropdb|dropuser|pg_dropcluster, mysqladmin ..drop|shutdown, pg_restore -c|--clean = it drops a database
    redis-cli ~~\bflush(all|db)\b|^shutdown, redis-cli ~~\bconfig\sset\s(dir|dbfilename)\b
      = it empties a database
    psql|mysql|sqlite3|mongo|docker|kubectl @sql-warned =? it changes every row or drops a column
  `,
  cloud: String.raw`
    terraform destroy|destroy-all|taint|force-unlock, terraform run-all destroy, terraform workspace delete,
    pulumi destroy|cancel, pulumi stack rm, helm uninstall|delete|del|un, helmfile destroy|delete,
    aws * ^(delete|terminate|remove|purge|deregister|disable|detach|revoke|stop|reset|cancel|release),
    aws * ^(schedule-key-deletion|put-bucket-(acl|policy)), aws s3 rb|rm, aws s3 --delete,
    aws iam ^(create-access-key|attach-(user|role)-policy|put-user-policy|create-(user|login-profile)),
    gcloud ..delete|remove-iam-policy-binding|destroy|reset|rm|disable,
    az ..delete|purge|deallocate|delete-batch, gsutil ..rm|rb|mv, bq rm, kubectl replace --force,
    kubectl delete !^(po|pods?|jobs?)(/|$), kubectl delete -A|--all|--all-namespaces,
    fly ..destroy|delete, vercel ..rm|remove, wrangler|sam|amplify|copilot ..delete, serverless|sls remove,
    cdk|cdktf destroy, glab repo|project delete, vault ..delete|destroy|disable, consul kv delete,
    s3cmd|mc rb|del|rm, heroku ^(apps:(destroy|delete)|destroy|pg:reset|addons:destroy|domains:clear|ps:stop)$,
    supabase|eksctl|kops|doctl|linode-cli|hcloud|openstack|ibmcloud|oci ..delete|destroy|purge|remove|rm|terminate,
    docker stack rm|remove|down, docker swarm leave, docker service rm|remove = it removes what runs elsewhere
    terraform apply|run-all ~^--?(auto-approve|destroy), pulumi up -y|-f|--yes|--skip-preview
      = it changes what runs elsewhere without a question
    terraform state rm|push = it loses track of what runs elsewhere
    kubectl drain|taint = it takes machines out of a cluster
    kubectl delete ^(po|pods?|jobs?)(/|$), kubectl scale ~^--replicas=0$ =? it stops what runs elsewhere
    gh repo delete|archive, gh release|secret|variable|run|ssh-key delete|remove, gh ssh-key add,
    gh repo edit --visibility, gh api -X|--method~^(DELETE|delete)$, gh api ~mutation[\s\S]*\bdelete
      = it changes what others see or who may come in
  `,
};
