/** The commands, and what becomes of their errors. */
import { Command, CommanderError } from "commander";
import { StartError } from "../errors.ts";
import { about } from "./about.ts";
import { serveCommand } from "./serve.ts";

/** Runs one command line (without node and script) and gives the exit code: 0, or 1 after one clear line on stderr. */
export async function runCli(args: readonly string[]): Promise<number> {
  const program = new Command("holdfast")
    .description(about.description)
    .version(about.version)
    .configureHelp({ showGlobalOptions: true })
    .exitOverride();
  program.addCommand(serveCommand());
  for (const command of program.commands) command.exitOverride();
  try {
    await program.parseAsync(args, { from: "user" });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    return exitCodeFor(error);
  }
}

function exitCodeFor(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode; // commander has printed it
  if (error instanceof StartError) {
    process.stderr.write(`holdfast: ${error.message}\n`);
    return 1;
  }
  throw error;
}
