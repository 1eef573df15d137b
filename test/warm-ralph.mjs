// ralph in a process that lives on from command to command: most of what a short command costs is loading it.
// A message names the arguments, the environment and the folder; a mark ends what the command wrote.
const CLI = new URL("../dist/cli.js", import.meta.url);
let count = 0;

process.on("message", async ({ args, env, cwd, mark }) => {
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.argv = [...process.argv.slice(0, 2), ...args];
  let code;
  process.exit = (given) => {
    code = given;
  };
  // With another address it is another module, and runs again; what it imports is there already.
  await import(`${CLI}?${++count}`);
  process.chdir("/");
  process.stdout.write(mark);
  process.stderr.write(mark);
  process.send(code);
});
