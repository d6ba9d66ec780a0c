/** `holdfast openapi`: writes the description of the interface. */
import { Command, Option } from "commander";
import { addStoreOptions, type Environment } from "./options.ts";

/** The command, for the command line. */
export function openapiCommand(env: Environment): Command {
  return addStoreOptions(new Command("openapi"))
    .description("Write the OpenAPI document of the configured service")
    .addOption(
      new Option("--version <version>", "OpenAPI version; 3.2 also describes the QUERY method")
        .choices(["3.1", "3.2"])
        .default("3.1"),
    )
    .option("-o, --output <file>", "write to a file instead of standard output")
    .addHelpText("after", "\nExample:\n  npx holdfast openapi --version 3.2 -o openapi.json\n")
    .action(async (flags: Record<string, unknown>) => {
      const { runOpenapi } = await import("./openapi/run-openapi.ts");
      await runOpenapi(flags, env);
    });
}
