/** `holdfast copy`: makes a store be like another one, of whatever kind each is. */
import { Command } from "commander";
import { addStoreOptions, type Environment } from "./options.ts";

/** The command, for the command line. */
export function copyCommand(env: Environment): Command {
  return addStoreOptions(new Command("copy"))
    .description(
      "copy a whole store into an empty one, with versions, history, keys and kept answers; run again, it goes on where it was",
    )
    .option("--from <address>", "the store to copy (default: the configured one)")
    .requiredOption("--to <address>", "the store to make: sqlite:<file> or postgres://user@host/database")
    .addHelpText(
      "after",
      "\nExample:\n  holdfast copy --from sqlite:holdfast.db --to postgres://holdfast@localhost/holdfast\n",
    )
    .action(async (flags: Record<string, unknown>) => {
      const { runCopy } = await import("./copy/run-copy.ts");
      await runCopy(flags, env);
    });
}
