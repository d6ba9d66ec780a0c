/** `holdfast seed`: fills an empty store with a file, once. */
import { Command } from "commander";
import { addStoreOptions, type Environment } from "./options.ts";

/** The command, for the command line. */
export function seedCommand(env: Environment): Command {
  return addStoreOptions(new Command("seed"))
    .description("Fill an empty store with a file")
    .argument(
      "<file>",
      'a JSON object with a list of resources for each collection; "-" reads standard input',
    )
    .option("--skip-invalid", "import the valid resources although others are invalid, and list those")
    .addHelpText(
      "after",
      `
Example:
  npx holdfast seed db.json
  npx holdfast seed db.json && npx holdfast serve
`,
    )
    .action(async (file: string, flags: Record<string, unknown>) => {
      const { runSeed } = await import("./import/run-seed.ts");
      await runSeed(file, flags, env);
    });
}
