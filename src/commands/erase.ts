/** `holdfast erase`: removes one resource with its history, for good. */
import { Command } from "commander";
import { addStoreOptions, type Environment } from "./options.ts";

/** The command, for the command line. */
export function eraseCommand(env: Environment): Command {
  return addStoreOptions(new Command("erase"))
    .summary("Erase a resource and its history permanently")
    .description(
      "Erase a resource and its history permanently, also a resource that is already deleted. With a SQLite store, stop the service first.",
    )
    .argument("<collection>", "collection of the resource")
    .argument("<id>", "id of the resource")
    .addHelpText("after", "\nExample:\n  npx holdfast erase topics 0190f5a0-7c3e-7b1a-9c54-3f1de3a4b5c6\n")
    .action(async (collection: string, id: string, flags: Record<string, unknown>) => {
      const { runErase } = await import("./erase/run-erase.ts");
      await runErase({ collection, id }, flags, env);
    });
}
