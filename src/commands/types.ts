/** `holdfast types`: writes what the collections hold, as TypeScript types. */
import { Command } from "commander";
import { addStoreOptions, type Environment } from "./options.ts";

/** The command, for the command line. */
export function typesCommand(env: Environment): Command {
  return addStoreOptions(new Command("types"))
    .description(
      "write the types of the configured collections, or a running service's, for the typed client in another project",
    )
    .argument("[url]", "where a service runs whose collections are meant, instead of the configured ones")
    .option("--token <token>", "what to show the service: an API key or a JSON Web Token")
    .option("-o, --output <file>", "write to a file instead of standard output")
    .addHelpText(
      "after",
      "\nExample:\n  holdfast types -o service.d.ts\n  holdfast types http://localhost:3000 -o service.d.ts\n",
    )
    .action(async (url: string | undefined, flags: Record<string, unknown>) => {
      const { runTypes } = await import("./types/run-types.ts");
      await runTypes({ ...flags, url }, env);
    });
}
