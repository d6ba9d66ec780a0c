/** `holdfast export`: writes a collection out, from one snapshot. */
import { Command, Option } from "commander";
import { addStoreOptions, type Environment } from "./options.ts";

/** The command, for the command line. */
export function exportCommand(env: Environment): Command {
  return addStoreOptions(new Command("export"))
    .description(
      "write a collection to standard output, one JSON object a line or as CSV, also beside a running service",
    )
    .argument("<collection>", "the collection to write")
    .addOption(
      new Option("--format <format>", "csv for a table (default: by the file's name, or ndjson)").choices([
        "ndjson",
        "csv",
      ]),
    )
    .option("-o, --output <file>", "write to a file instead, which appears when it is complete")
    .addHelpText("after", "\nExample:\n  holdfast export topics > topics.ndjson\n")
    .action(async (collection: string, flags: Record<string, unknown>) => {
      const { runExport } = await import("./export/run-export.ts");
      await runExport(collection, flags, env);
    });
}
