/** Programs that stand in front of another: how many words of their own follow, which options have a value. */
export const PREFIXES = `
  sudo -u -g -h -p -C -r -t -U -D -R -T
  doas -u -C
  pkexec --user
  gosu 1
  su-exec 1
  timeout 1 -s -k --signal --kill-after
  gtimeout 1 -s -k
  nice -n --adjustment
  ionice -c -n --class --classdata
  nohup
  chronic
  ifne
  shx
  setpriv
  prlimit
  eatmydata
  nocache
  numactl -N -m -C
  cgexec -g
  choom -n
  proot -r -b -w
  bwrap
  retry -t -d --times --delay
  setsid
  stdbuf -i -o -e
  time -f -o --format --output
  exec -a
  builtin
  chrt 1
  taskset 1
  unbuffer
  strace -o -e -p -s -E -u
  ltrace -o -e -p -s
  valgrind
  xvfb-run -n -s -e -f -w --server-args --server-num
  dbus-run-session
  caffeinate -t -w
  fakeroot
  faketime 1
  firejail
  proxychains -f
  proxychains4 -f
  torsocks
  busybox
  toybox
  setarch 1
  linux64
  noglob
  nocorrect
  chpst -u -U -b -e -d -n -l -L
  daemonize -p -l -o -e -c -u
  dumb-init
  tini
  cpulimit -l -p
  perf 1 -e -o
  hyperfine -w -r -m -M -p -c --warmup --runs --export-json --export-markdown
  npx -p --package -w
  bunx
  uvx --from --with -p --python
  pipx 1
  cross-env
  dotenv -e -f
  dotenvx 1
  env-cmd -f -e
  chroot 1
  nsenter -t --target
  unshare
  systemd-run -u -p --unit --property --on-calendar
  systemd-inhibit --what --who --why --mode
  entr
  watchexec -w -e -i -f --exts --watch --ignore
  aws-vault 2
  rlwrap
  dbus-launch
  catchsegv
  arch -arch
  rr 1
  run0 -u -g --user --group
  winpty
  doppler 1
  runuser -u -g
`;

/** Two words in front of another program, as in `poetry run X`; where no second one is named, any word is one. */
export const RUNNERS = `
  poetry run
  pipenv run
  uv run tool
  pdm run
  rye run
  hatch run
  bundle exec
  npm exec x
  pnpm exec dlx
  yarn exec dlx
  bun x
  mise exec x
  asdf exec
  nvm exec
  fnm exec
  conda run
  mamba run
  micromamba run
  volta run
  direnv exec
  op run
  doppler run
  dotenvx run
  nix run develop shell
  rustup run
  xcrun
  corepack
  turbo exec
  lerna exec
`;
