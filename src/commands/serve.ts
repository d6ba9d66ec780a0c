/** `holdfast serve`: starts the service. */
import { Command } from "commander";
import { addServiceOptions, addStoreOptions, type Environment } from "./options.ts";

/** The command, for the command line. `onListening` gets the address that the collections live under. */
export function serveCommand(env: Environment, onListening?: (base: string) => void): Command {
  return addServiceOptions(addStoreOptions(new Command("serve")))
    .description("Start the service")
    .option(
      "--insecure",
      "allow any --host without authentication: anyone who reaches it can change everything",
    )
    .option("--read-only", "refuse every write with 503, so that you can copy the store")
    .option("--accept", "start even if existing resources do not fit a changed schema")
    .option("--watch", "restart when the configuration changes; for development")
    .addHelpText(
      "after",
      "\nExample:\n  npx holdfast serve\n  npx holdfast serve --port 4000 --store sqlite:shop.db\n  npx holdfast serve --watch\n",
    )
    .action(async ({ watch, ...flags }: Record<string, unknown>) => {
      if (watch === true) {
        const { runWatch } = await import("./serve/watch/run-watch.ts");
        await runWatch(flags, env, onListening);
      }
      const { runServe } = await import("./serve/run-serve.ts");
      await runServe(flags, env, onListening);
    });
}
