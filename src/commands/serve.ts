/** `holdfast serve`: starts the service. */
import { Command } from "commander";
import { addStoreOptions, type Environment } from "./options.ts";

/** The command, for the command line. */
export function serveCommand(env: Environment): Command {
  return addStoreOptions(new Command("serve"))
    .description("start the service")
    .option("-p, --port <number>", "port to listen on (default: 3000)")
    .option("-H, --host <address>", "address to listen on (default: 127.0.0.1)")
    .option("--prefix <path>", "path that the collections live under (default: /api/v1)")
    .option("--log <what>", '"requests" writes a line for each request (a terminal has them anyway)')
    .option("--insecure", "listen beyond the loopback addresses although nothing is authenticated")
    .option("--accept", "start although existing resources do not fit a changed schema")
    .addHelpText("after", "\nExample:\n  holdfast serve --port 4000 --store sqlite:shop.db\n")
    .action(async (flags: Record<string, unknown>) => {
      const { runServe } = await import("./serve/run-serve.ts");
      await runServe(flags, env);
    });
}
