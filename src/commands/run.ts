/** The commands, and what becomes of their errors. */
import { Command, CommanderError } from "commander";
import { about } from "../about.ts";
import { Problem, StartError } from "../errors.ts";
import { checkCommand } from "./check.ts";
import { copyCommand } from "./copy.ts";
import { eraseCommand } from "./erase.ts";
import { exportCommand } from "./export.ts";
import { importCommand } from "./import.ts";
import { keysCommand } from "./keys.ts";
import { openapiCommand } from "./openapi.ts";
import type { Environment } from "./options.ts";
import { seedCommand } from "./seed.ts";
import { serveCommand } from "./serve.ts";
import { typesCommand } from "./types.ts";
import { messageOf, toOneLine } from "./words.ts";

const helpAtEnd = `
Every command explains its options with --help.

Example:
  npx holdfast serve
`;

/** Every command, in the order in which the help lists them. */
export function createCommands(env: Environment, onListening?: (base: string) => void): Command[] {
  return [
    serveCommand(env, onListening),
    importCommand(env),
    seedCommand(env),
    exportCommand(env),
    copyCommand(env),
    checkCommand(env),
    eraseCommand(env),
    keysCommand(env),
    openapiCommand(env),
    typesCommand(env),
  ];
}

/** Runs one command line (without node and script) and gives the exit code: 0, or 1 after one clear line on stderr. `onListening` gets the address of a service that has started. */
export async function runCli(
  args: readonly string[],
  env: Environment,
  onListening?: (base: string) => void,
): Promise<number> {
  const commands = createCommands(env, onListening);
  const program = new Command("holdfast")
    .description(about.description)
    .version(about.version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [command]", "Print the help of a command")
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .addHelpText("after", helpAtEnd)
    .enablePositionalOptions() // `--version` of a command is its own
    .configureOutput({
      outputError: (text, write) => write(`holdfast: ${toOneLine(text)}${placeOf(text, commands)}\n`),
    })
    .exitOverride();
  for (const command of commands) {
    const path = `holdfast ${command.name()}`;
    tellInOneLine(command, program, path);
    command.enablePositionalOptions(false); // its options may also stand behind its part, as in `keys list --store …`
    for (const part of command.commands) {
      tellInOneLine(part, command, `${path} ${part.name()}`);
      part.configureHelp({ showGlobalOptions: true });
    }
    program.addCommand(command);
  }
  try {
    await program.parseAsync(args, { from: "user" });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    return exitCodeFor(error);
  }
}

/** Errors of a command are one line, which says where help is to be had. */
function tellInOneLine(command: Command, parent: Command, path: string): void {
  command.copyInheritedSettings(parent).configureOutput({
    outputError: (text, write) => {
      const place = /missing required|required option/.test(text) ? ` (see npx ${path} --help)` : "";
      write(`holdfast: ${toOneLine(text)}${place}${surplusHint(text)}\n`);
    },
  });
}

/** What was probably meant by an argument of `serve`, which takes none. */
function surplusHint(text: string): string {
  const [, given] = /too many arguments for 'serve'.* got \d+: ([^,\s]+)\./s.exec(text) ?? [];
  if (given === undefined) return "";
  if (/\.(?:json|ndjson|csv)$/.test(given)) return ` To import data, run: npx holdfast import ${given}`;
  return ' With npm, write options after "--": npm start -- --port 4000';
}

/** Where an option belongs that was given without a command. */
function placeOf(text: string, commands: readonly Command[]): string {
  const [, flag] = /unknown option '(--?[a-z-]+)/i.exec(text) ?? [];
  const command = commands.find(
    ({ options }) =>
      flag !== undefined && options.some((option) => option.short === flag || option.long === flag),
  );
  return command === undefined ? "" : ` (Did you mean npx holdfast ${command.name()} ${flag} …?)`;
}

function exitCodeFor(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode; // commander has printed it
  if (error instanceof StartError || error instanceof Problem) {
    process.stderr.write(`holdfast: ${messageOf(error)}\n`);
    return 1;
  }
  throw error;
}
