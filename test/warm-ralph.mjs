// ralph in a process that lives on from command to command: most of what a short command costs is loading it.
// A message names the arguments, the environment and the folder; a mark ends what the command wrote.
const CLI = new URL("../dist/cli.js", import.meta.url);
const exit = process.exit;
let count = 0;
// Commands listen to them until their process ends, and here it does not.
for (const heard of [process, process.stdin, process.stdout, process.stderr]) heard.setMaxListeners(0);

process.on("message", async ({ args, env, cwd, mark }) => {
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.argv = [...process.argv.slice(0, 2), ...args];
  const before = process.getActiveResourcesInfo().length;
  let code;
  process.exit = (given) => {
    // What a command has not waited for ends with its process.
    if (process.getActiveResourcesInfo().length > before) exit(given);
    code = given;
  };
  // With another address it is another module, and runs again; what it imports is there already.
  await import(`${CLI}?${++count}`);
  process.chdir("/");
  process.stdout.write(mark);
  process.stderr.write(mark);
  process.send(code);
});
