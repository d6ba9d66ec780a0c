/** `holdfast copy`: makes a store be like another one, of whatever kind each is. */
import { Command } from "commander";
import { addStoreOptions, type Environment } from "./options.ts";

/** The command, for the command line. */
export function copyCommand(env: Environment): Command {
  return addStoreOptions(new Command("copy"))
    .summary("Copy a whole store into an empty one")
    .description(
      "Copy a whole store into an empty one, with versions, history, API keys and stored responses. If the copy is interrupted, run the same command again to continue.",
    )
    .option("--from <address>", "store to copy (default: the configured store)")
    .requiredOption("--to <address>", "store to create: sqlite:<file> or postgres://user@host/database")
    .addHelpText(
      "after",
      "\nExample:\n  npx holdfast copy --from sqlite:holdfast.db --to postgres://holdfast@localhost/holdfast\n",
    )
    .action(async (flags: Record<string, unknown>) => {
      const { runCopy } = await import("./copy/run-copy.ts");
      await runCopy(flags, env);
    });
}
