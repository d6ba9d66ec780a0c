/** `holdfast import`: brings resources into a collection, all or none. */
import { Command, Option } from "commander";
import { addStoreOptions, type Environment } from "./options.ts";

/** The command, for the command line. */
export function importCommand(env: Environment): Command {
  return addStoreOptions(new Command("import"))
    .summary("Import resources from a file")
    .description(
      "Import resources from a file: all of them, or none if one is invalid. With a SQLite store, stop the service first.",
    )
    .argument("<collection>", "collection to import into; leave it out for a json-server database")
    .argument(
      "[file]",
      'JSON array, NDJSON (one JSON object per line) or CSV file in UTF-8; "-" reads standard input',
    )
    .addOption(
      new Option("--format <format>", "input format (default: by the file name, or json)").choices([
        "json",
        "csv",
      ]),
    )
    .option("--delimiter <character>", 'character between CSV cells: ",", ";", tab, … (default: ",")')
    .option("--skip-invalid", "import the valid resources, and list the invalid ones")
    .addHelpText(
      "after",
      `
Example:
  npx holdfast import topics topics.ndjson
  npx holdfast import topics topics.csv --delimiter ";"
  npx holdfast import db.json   # every collection of a json-server database
`,
    )
    .action(async (collection: string, file: string | undefined, flags: Record<string, unknown>) => {
      if (file === undefined) {
        const { runDatabaseImport } = await import("./import/run-database.ts");
        await runDatabaseImport(collection, flags, env);
      } else {
        const { runImport } = await import("./import/run-import.ts");
        await runImport({ name: collection, file }, flags, env);
      }
    });
}
