/** `holdfast import`: brings resources into a collection, all or none. */
import { Command } from "commander";
import { addStoreOptions, type Environment } from "./options.ts";

/** The command, for the command line. */
export function importCommand(env: Environment): Command {
  return addStoreOptions(new Command("import"))
    .description("bring resources into a collection: all of the input, or nothing when a line of it is bad")
    .argument("<collection>", "the collection they become part of")
    .argument(
      "<file>",
      'a JSON array, or one JSON object a line (NDJSON), in UTF-8; "-" reads standard input',
    )
    .option("--skip-invalid", "import the sound ones although others are bad, and list what was skipped")
    .addHelpText("after", "\nExample:\n  holdfast import topics topics.ndjson\n")
    .action(async (collection: string, file: string, flags: Record<string, unknown>) => {
      const { runImport } = await import("./import/run-import.ts");
      await runImport({ name: collection, file }, flags, env);
    });
}
