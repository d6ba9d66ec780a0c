/** `holdfast import`: brings resources into a collection, all or none. */
import { Command, Option } from "commander";
import { addStoreOptions, type Environment } from "./options.ts";

/** The command, for the command line. */
export function importCommand(env: Environment): Command {
  return addStoreOptions(new Command("import"))
    .description("bring resources into a collection: all of the input, or nothing when a line of it is bad")
    .argument(
      "<collection>",
      "the collection they become part of; left out: the file is a json-server database",
    )
    .argument(
      "[file]",
      'a JSON array, one JSON object a line (NDJSON), or CSV, in UTF-8; "-" reads standard input',
    )
    .addOption(
      new Option("--format <format>", "csv for a table (default: by the file's name, or json)").choices([
        "json",
        "csv",
      ]),
    )
    .option("--delimiter <character>", 'what stands between the cells of CSV: ",", ";", tab, … (default: ,)')
    .option("--skip-invalid", "import the sound ones although others are bad, and list what was skipped")
    .addHelpText(
      "after",
      `
Example:
  holdfast import topics topics.ndjson
  holdfast import topics topics.csv --delimiter ";"
  holdfast import db.json   # every collection of json-server
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
