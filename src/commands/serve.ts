/** `holdfast serve`: starts the service. */
import { Command } from "commander";
import { addServiceOptions, addStoreOptions, type Environment } from "./options.ts";

/** The command, for the command line. `onListening` gets the address that the collections live under. */
export function serveCommand(env: Environment, onListening?: (base: string) => void): Command {
  return addServiceOptions(addStoreOptions(new Command("serve")))
    .description("start the service")
    .option("--insecure", "listen beyond the loopback addresses although nothing is authenticated")
    .option("--read-only", "write nothing: every write is 503, and the store may be copied meanwhile")
    .option("--accept", "start although existing resources do not fit a changed schema")
    .option("--watch", "restart when the configuration changes; for development")
    .addHelpText(
      "after",
      "\nExample:\n  holdfast serve --port 4000 --store sqlite:shop.db\n  holdfast serve --watch\n",
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
