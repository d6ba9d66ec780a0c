/** `holdfast types`: writes what the collections hold, as TypeScript types. */
import { Command } from "commander";
import { addStoreOptions, type Environment } from "./options.ts";

/** The command, for the command line. */
export function typesCommand(env: Environment): Command {
  return addStoreOptions(new Command("types"))
    .description("write the types of the configured collections, for the typed client in another project")
    .option("-o, --output <file>", "write to a file instead of standard output")
    .addHelpText("after", "\nExample:\n  holdfast types -o service.d.ts\n")
    .action(async (flags: Record<string, unknown>) => {
      const { runTypes } = await import("./types/run-types.ts");
      await runTypes(flags, env);
    });
}
