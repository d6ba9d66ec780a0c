/** `holdfast types`: writes what the collections hold, as TypeScript types. */
import { Command } from "commander";
import { addStoreOptions, type Environment } from "./options.ts";

/** The command, for the command line. */
export function typesCommand(env: Environment): Command {
  return addStoreOptions(new Command("types"))
    .summary("Write TypeScript types of the collections")
    .description("Write TypeScript types of the collections, for the typed client in another project")
    .argument("[url]", "running service to read the collections from, instead of the configuration")
    .option("--token <token>", "API key or JSON Web Token for the running service")
    .option("-o, --output <file>", "write to a file instead of standard output")
    .addHelpText(
      "after",
      "\nExample:\n  npx holdfast types -o service.d.ts\n  npx holdfast types http://localhost:3000 -o service.d.ts\n",
    )
    .action(async (url: string | undefined, flags: Record<string, unknown>) => {
      const { runTypes } = await import("./types/run-types.ts");
      await runTypes({ ...flags, url }, env);
    });
}
