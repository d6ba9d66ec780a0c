/** `holdfast check`: tells whether the configuration is sound and the store fits it. */
import { Command } from "commander";
import { addStoreOptions, type Environment } from "./options.ts";

/** The command, for the command line. */
export function checkCommand(env: Environment): Command {
  return addStoreOptions(new Command("check"))
    .summary("Check the configuration, and whether stored resources fit it")
    .description(
      "Check the configuration, and whether stored resources fit it. The service can run at the same time.",
    )
    .addHelpText("after", "\nExample:\n  npx holdfast check --config holdfast.config.ts\n")
    .action(async (flags: Record<string, unknown>) => {
      const { runCheck } = await import("./check/run-check.ts");
      await runCheck(flags, env);
    });
}
