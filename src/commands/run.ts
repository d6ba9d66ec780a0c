/** The commands, and what becomes of their errors. */
import { Command, CommanderError } from "commander";
import { Problem, StartError } from "../errors.ts";
import { about } from "./about.ts";
import { checkCommand } from "./check.ts";
import { exportCommand } from "./export.ts";
import { importCommand } from "./import.ts";
import type { Environment } from "./options.ts";
import { serveCommand } from "./serve.ts";

/** Every command, in the order in which the help lists them. */
export function createCommands(env: Environment): Command[] {
  return [serveCommand, importCommand, exportCommand, checkCommand].map((create) => create(env));
}

/** Runs one command line (without node and script) and gives the exit code: 0, or 1 after one clear line on stderr. */
export async function runCli(args: readonly string[], env: Environment): Promise<number> {
  const program = new Command("holdfast")
    .description(about.description)
    .version(about.version)
    .configureOutput({ outputError: (text, write) => write(`holdfast: ${toOneLine(text)}\n`) })
    .exitOverride();
  for (const command of createCommands(env)) program.addCommand(command.copyInheritedSettings(program));
  try {
    await program.parseAsync(args, { from: "user" });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    return exitCodeFor(error);
  }
}

/** Commander writes `error: …` and puts its suggestion in a line of its own. */
function toOneLine(text: string): string {
  return text
    .trim()
    .replace(/^error: /, "")
    .replaceAll(/\s*\n\s*/g, " ");
}

function exitCodeFor(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode; // commander has printed it
  if (error instanceof StartError || error instanceof Problem) {
    process.stderr.write(`holdfast: ${error.message}\n`);
    return 1;
  }
  throw error;
}
