/** `holdfast erase`: removes one resource with its history, for good. */
import { Command } from "commander";
import { addStoreOptions, type Environment } from "./options.ts";

/** The command, for the command line. */
export function eraseCommand(env: Environment): Command {
  return addStoreOptions(new Command("erase"))
    .description(
      "remove a resource and all that is kept of it, deleted or not, so that nothing brings it back",
    )
    .argument("<collection>", "the collection that it is or was in")
    .argument("<id>", "its id")
    .addHelpText("after", "\nExample:\n  holdfast erase topics 0190f5a0-7c3e-7b1a-9c54-3f1de3a4b5c6\n")
    .action(async (collection: string, id: string, flags: Record<string, unknown>) => {
      const { runErase } = await import("./erase/run-erase.ts");
      await runErase({ collection, id }, flags, env);
    });
}
