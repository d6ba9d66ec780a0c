/** `holdfast check`: tells whether the configuration is sound and the store fits it. */
import { Command } from "commander";
import { addStoreOptions } from "./options.ts";

/** The command, for the command line. */
export function checkCommand(): Command {
  return addStoreOptions(new Command("check"))
    .description("check the configuration, and whether what is stored fits it, also beside a running service")
    .addHelpText("after", "\nExample:\n  holdfast check --config holdfast.config.ts\n")
    .action(async (flags: Record<string, unknown>) => {
      const { runCheck } = await import("./check/run-check.ts");
      await runCheck(flags);
    });
}
