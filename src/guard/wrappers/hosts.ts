import { afterOptions, plainArgs, valuesOf } from "../args.js";
import { UNKNOWN } from "../call.js";
import { list } from "../list.js";
import { type Inner, type LookThrough, scriptsOf, wordsOf } from "./inner.js";

/** Programs that hand their words to a shell. */
export const watched: LookThrough = ({ args }) =>
  scriptsOf(afterOptions(args, ["-n", "--interval", "-q"]).join(" "));

export const locked: LookThrough = ({ args }) => {
  const texts = valuesOf(args, "-c", "--command");
  return texts.length > 0
    ? scriptsOf(...texts)
    : wordsOf(afterOptions(args, ["-w", "-E", "--wait", "--timeout"]).slice(1));
};

export const remote: LookThrough = ({ args, input }) => {
  const proxies = valuesOf(args, "-o").flatMap(
    (option) => /^(?:ProxyCommand|LocalCommand|KnownHostsCommand)[ =](.*)$/is.exec(option)?.[1] ?? [],
  );
  const [, ...after] = afterOptions(
    args,
    list(`
    -p -i -l -o -F -J -E -c -m -b -B -e -I -L -R -D -O -Q -S -W -w
  `),
  );
  const words = after[0] === "--" ? after.slice(1) : after;
  const script = words.length === 0 ? (input?.text ?? "") : words.join(" ");
  return [...scriptsOf(...proxies), ...(script.trim() === "" ? [] : [{ script, cwd: "/home/remote" }])];
};

export const switched: LookThrough = ({ args }) =>
  scriptsOf(...valuesOf(args, "-c", "--command", "--session-command"));

export const scripted: LookThrough = ({ args }) =>
  scriptsOf(
    ...args.flatMap((arg, index) =>
      /^-[a-z]*c$|^--command$/.test(arg)
        ? (args[index + 1] ?? "")
        : /^--command=/.test(arg)
          ? arg.slice(10)
          : [],
    ),
  );

export const multiplexed: LookThrough = ({ args, program }) => {
  if (program === "screen") return screened(args);
  const at = args.findIndex((arg) =>
    /^(new|new-session|neww|new-window|splitw|split-window|respawn-\w+|run|run-shell|if-shell|send|send-keys|popup|display-popup)$/.test(
      arg,
    ),
  );
  if (at === -1) return [];
  const words = plainArgs(
    args.slice(at + 1),
    list(`
    -s -n -t -c -e -x -y -F -l -w -h
  `),
  );
  return scriptsOf(words.filter((word) => !/^(Enter|C-[a-z]|Escape|Space)$/.test(word)).join(" "));
};

/** `screen -dmS name cmd`, and what is typed into one: `screen -X stuff TEXT`. */
function screened(args: string[]): Inner[] {
  const [order, ...text] = args.slice(args.indexOf("-X") + 1);
  if (args.includes("-X")) return order === "stuff" || order === "exec" ? scriptsOf(text.join(" ")) : [];
  return wordsOf(
    afterOptions(
      args,
      args.filter((arg) => /^-[a-zA-Z]*[Stchp]$/.test(arg)),
    ),
  );
}

/** What is shown beside a line, and what a key runs. */
export const fzf: LookThrough = ({ args }) => {
  const bound = valuesOf(args, "--bind").flatMap((keys) =>
    [...keys.matchAll(/(?:execute(?:-silent)?|become|reload)\((.*?)\)/g)].map((match) => match[1] ?? ""),
  );
  const scripts = [...valuesOf(args, "--preview"), ...bound];
  return scripts.map((script) => ({ script: script.replace(/\{[^}]*\}/g, "x"), tentative: true }));
};

export const hyperfined: LookThrough = ({ args }) =>
  scriptsOf(
    ...plainArgs(args, ["-w", "-r", "-m", "-M", "-p", "-c", "--warmup", "--runs"]),
    ...valuesOf(args, "-p", "-c", "--prepare", "--cleanup"),
  );

export const parallel: LookThrough = ({ args, input }) => {
  const at = args.findIndex((arg) => /^:::/.test(arg));
  const template = afterOptions(
    at === -1 ? args : args.slice(0, at),
    list(`
    -j --jobs -a -I -N -n --delay --timeout --colsep -S
  `),
  );
  const values =
    at === -1
      ? (input?.text?.split("\n").filter((line) => line !== "") ?? [UNKNOWN])
      : args.slice(at + 1).filter((arg) => !arg.startsWith(":::"));
  const fill = (value: string): string =>
    template.length === 0
      ? value
      : /\{.*?\}/.test(template.join(" "))
        ? template.join(" ").replace(/\{[./#%\d]*\}/g, value)
        : `${template.join(" ")} ${value}`;
  return scriptsOf(...values.slice(0, 16).map(fill));
};
