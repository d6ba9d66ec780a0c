/** `holdfast export`: writes a collection out, from one snapshot. */
import { Command, Option } from "commander";
import { addStoreOptions, type Environment } from "./options.ts";

/** The command, for the command line. */
export function exportCommand(env: Environment): Command {
  return addStoreOptions(new Command("export"))
    .summary("Export a collection as NDJSON or CSV")
    .description("Export a collection as NDJSON or CSV. The service can run at the same time.")
    .argument("<collection>", "collection to export")
    .addOption(
      new Option("--format <format>", "output format (default: by the file name, or ndjson)").choices([
        "ndjson",
        "csv",
      ]),
    )
    .option("-o, --output <file>", "write to a file instead of standard output; it appears when complete")
    .addHelpText(
      "after",
      "\nExample:\n  npx holdfast export topics > topics.ndjson\n  npx holdfast export topics -o topics.csv\n",
    )
    .action(async (collection: string, flags: Record<string, unknown>) => {
      const { runExport } = await import("./export/run-export.ts");
      await runExport(collection, flags, env);
    });
}
