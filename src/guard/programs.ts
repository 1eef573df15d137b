import { namesIn } from "./text.js";

/** Other names of programs that the tables list under one name. */
export const ALIASES = `
  bash|zsh|dash|ash|ksh|mksh|fish|csh|tcsh|rbash|yash|pwsh|powershell sh
  podman|nerdctl|docker-compose docker
  oc|k kubectl
  tofu|terragrunt terraform
  ncat|netcat|nc.traditional|nc.openbsd nc
  gawk|mawk|nawk awk
  vi|nvim|ex|view vim
  https|xh http
  mariadb mysql
  mongosh mongo
  pnpm|yarn npm
  nodejs|tsx|ts-node node
  ipython|pypy python
  gradlew gradle
  apt-get|aptitude apt
  flyctl fly
`;

/** Options that take the next word as their value. */
export const VALUED = `
  git -C -c --git-dir --work-tree --namespace -o --push-option -m --message -b -B --depth --branch --reason
  docker -H --host --context -c -f --file -p --project-name
  kubectl|helm -n --namespace --context --kubeconfig -l -f -o
  aws --profile --region --output --query --endpoint-url
  npm|npx -w --workspace -C --prefix --filter --registry --tag -p --package
  nc -p -w -s -X -x -i -q
  ssh|scp -p -P -i -l -o -F -J -E -c -m -b -B -e -I -L -R -D -O -Q -S -W -w
  cp|mv|ln|install -t --target-directory -m -o -g -S
  truncate|touch -s --size -d -t -r
  sed|perl|ruby|awk -e -f --expression --file -E -pe -ne -F -v
  tar|rsync -f --file -C --directory -e --rsh --exclude --include
  pkill|pgrep -u -U -g -G -P -s -t --signal --euid --uid --group --parent
  grep|egrep|fgrep|rg|ag -e -f --regexp -A -B -C -m --include --exclude --exclude-dir -g -t --glob
  sudo|doas|nsenter|systemd-run|ionice -u -g -h -p -C -c -n -r -t -U -D -R -T --target --unit --property
  timeout|nice|stdbuf|strace|watch -s -k --signal --kill-after -n --adjustment --interval -i -o -e -E
  env|time|flock -u --unset -C --chdir -f -o --format --output -w -E --wait --timeout
  xargs -I -L -n -P -s -d -E -a --max-args --max-procs --max-lines --delimiter --arg-file --replace
  poetry|uv|uvx|conda|nix|watchexec -n --name -p --package --with --from --python --group --extra -w -e --watch
  tmux -s -n -t -c -e -x -y -F -l -w -h
`;

/**
 * Programs that run another one: `words` are the words that follow, after as many of its own as the number
 * says; `text`: those words are a shell script; flags: their values are shell scripts. A word with `+` must
 * come first.
 */
export const WRAPPERS = `
  sudo|doas|pkexec|run0|nice|ionice|nohup|setsid|stdbuf|time|exec|builtin|command|strace|npx|bunx|uvx|cross-env words
  busybox|caffeinate|dotenv|nsenter|unshare|systemd-run|xvfb-run|entr|watchexec|gdb words
  timeout|chroot|flock|pipx words1
  poetry|pipenv|uv|pdm|rye|hatch|conda|mamba|op|doppler|dotenvx|nix +run|tool|develop|shell words
  bundle|npm|bun|mise|asdf|turbo|lerna +exec|x|dlx words
  nvm|fnm|direnv|rustup +exec|run words1
  git +bisect words1
  watch text
  tmux +new|new-session|neww|new-window|splitw|split-window|run|run-shell|send|send-keys text
  su|runuser|script|flock|npx|npm|nix|doppler|just -c|--command|--call|--session-command
  nix-shell|nodemon|git --run|--command|-x|--exec|--extcmd|--tree-filter|--index-filter|--msg-filter|--env-filter
  tar|rsync|split --to-command|-I|--use-compress-program|--checkpoint-action|-e|--rsh|--rsync-path|--filter
`;

/** Tools of `cmake -E` that have another name in a shell. */
export const TOOLS = `
  remove|remove_directory rm -r
  rename mv
  copy|copy_if_different|copy_directory cp
`;

/** What programs write to: `all`, `last`, `rest` of their arguments; `into`: what lands there; flags. */
export const WRITERS = `
  tee|rm|rmdir|unlink|mkfifo|ed|vim|nano|emacs|sponge|touch|shred|truncate|mkdir|setfacl|script|wipefs|mkswap all
  cp|ln|install into
  mv into sources
  rsync|scp last
  chmod|chown|chgrp|chattr|split rest
  dd of=
  sed|perl|ruby|yq ?-i|--in-place edited
  curl -o --output --output-dir -D --dump-header -c --cookie-jar
  curl ?-O|-J|--remote-name named
  wget -O --output-document -P --directory-prefix -o --output-file
  wget ?!-O|--output-document named
  sort|gpg -o --output
  openssl -out -keyout
  tar -C --directory
  tar ?~^-?[a-zA-Z]*[cru]|^--create$ -f --file
  unzip -d
  patch first -d -o
  ssh-keygen ?!-l|-y|-F|-B -f
  git ..clone last
  git ..init last
  git ..config ?!-l|--get|--list -f --file
`;

/** What these programs remove, which must not lie around or beside the project. `?` says when. */
export const REMOVERS = `
  rm ?-r|-R|--recursive all
  rm ?~^[/~].*[*?] all
  rimraf|del-cli|trash|trash-put|trash-cli|gio all
  mv sources
  rsync ?--remove-source-files sources
  rsync ?~^--del last
  zip ?-m|--move rest
  7z ?~^-sdel rest
  tar ?--remove-files all
  truncate all
  cp ?~^/dev/null$ last
`;

/** More programs that never run a command from their words. A program in no table may. */
export const ORDINARY = namesIn(`
  less more bat tac nl grep egrep fgrep rg ag ack cut tr uniq wc diff cmp comm paste join column xxd od hexdump
  strings file stat ls ll exa eza tree du df fd locate which type whereis whatis man info apropos tldr help test [
  true false : cd pwd pushd popd unset read return exit hub hg svn jq xmllint make ninja gcc g++ clang cc ld rustc
  java javac swift brew apk snap port journalctl top htop pgrep pidof lsof id whoami groups cal sleep seq expr bc dc
  basename dirname realpath readlink mktemp ping dig open xdg-open complete wait jobs notify-send shellcheck shfmt
  prettier eslint jest vitest pytest tox mocha ruff black mypy tsc biome pre-commit ralph aider opencode amp cspell
  typos vale markdownlint apply_patch cowsay figlet jira linear slack task todo.sh note local typeset readonly getopts
  mapfile shift bg fg disown umask
`);
