/** Runs a command line: parses it, runs its command, and turns errors into one line and an exit code. */
import { Command, CommanderError } from "commander";
import { about } from "../about.ts";
import { Problem, StartError } from "../errors.ts";
import { createCommands } from "./command-table.ts";
import type { Environment, OnListening } from "./flags.ts";
import { Interrupted, interruptedExitCode, say, shell } from "./shell.ts";
import { messageOf, toOneLine, withCommand } from "./wording.ts";

const helpAtEnd = `
Every command explains its options with --help.

Example:
  npx holdfast serve
`;

/**
 * Runs one command line, without the names of Node and the script, and returns the exit code. An error is one line on
 * standard error and exit code 1. `onListening` is called when `serve` listens.
 */
export async function runCli(
  args: readonly string[],
  env: Environment,
  onListening?: OnListening,
): Promise<number> {
  const commands = createCommands(env, onListening);
  const program = new Command("holdfast")
    .description(about.description)
    .version(about.version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [command]", "Print the help of a command")
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .addHelpText("after", helpAtEnd)
    .enablePositionalOptions() // `openapi --version` is not the program's `--version`
    .exitOverride();
  printErrorsOf(program, (text) => hintAtCommand(text, commands));
  for (const command of commands) {
    const path = `holdfast ${command.name()}`;
    printErrorsOf(command.copyInheritedSettings(program), (text) => hintAtUsage(text, path));
    command.enablePositionalOptions(false); // its options can also follow a subcommand, as in `keys list --store …`
    for (const subcommand of command.commands) {
      printErrorsOf(subcommand.copyInheritedSettings(command), (text) =>
        hintAtUsage(text, `${path} ${subcommand.name()}`),
      );
      subcommand.configureHelp({ showGlobalOptions: true });
    }
    program.addCommand(command);
  }
  try {
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    return exitCodeFor(error);
  }
}

/** Prints each error of a command in one line, which ends with a hint. */
function printErrorsOf(command: Command, hintAt: (text: string) => string): void {
  command.configureOutput({
    writeOut: (text) => void shell().stdout.write(withCommand(text)),
    writeErr: (text) => void shell().stderr.write(withCommand(text)),
    outputError: (text, write) => write(withCommand(`holdfast: ${toOneLine(text)}${hintAt(text)}\n`)),
  });
}

/** Suggests a command for an unknown option that was given without a command. */
function hintAtCommand(text: string, commands: readonly Command[]): string {
  const [, flag] = /unknown option '(--?[a-z-]+)/i.exec(text) ?? [];
  if (flag === undefined) return "";
  const command = commands.find(({ options }) =>
    options.some((option) => option.short === flag || option.long === flag),
  );
  return command === undefined ? "" : ` (Did you mean npx holdfast ${command.name()} ${flag} …?)`;
}

/** Says how to get help, or what an argument of `serve` probably means. `serve` takes no arguments. */
function hintAtUsage(text: string, path: string): string {
  if (/missing required|required option/.test(text)) return ` (see npx ${path} --help)`;
  const [, argument] = /too many arguments for 'serve'.* got \d+: ([^,\s]+)\./s.exec(text) ?? [];
  if (argument === undefined) return "";
  if (/\.(?:json|ndjson|csv)$/.test(argument)) return ` To import data, run: npx holdfast import ${argument}`;
  return ' With npm, write options after "--": npm start -- --port 4000';
}

function exitCodeFor(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode; // commander has printed it
  if (error instanceof Interrupted) {
    say(`holdfast: ${error.message}`);
    return interruptedExitCode;
  }
  if (error instanceof StartError || error instanceof Problem) {
    say(`holdfast: ${messageOf(error)}`);
    return 1;
  }
  throw error;
}
