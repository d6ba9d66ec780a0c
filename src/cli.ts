/** The start of the command line, and of the program's other processes. `bin/holdfast.js` has already checked the version of Node. */

import { runCli } from "./commands/run.ts";
import { watchOutput } from "./commands/shell.ts";
import { processArguments } from "./program.ts";

async function run(args: string[]): Promise<void> {
  watchOutput();
  const exitCode = await runCli(args, process.env);
  if (exitCode !== 0) process.exitCode = exitCode; // 0 must not hide a failure that another part reported
  // A configuration file can leave a timer running. It must not keep the process alive.
  process.stdout.write("", () => setTimeout(() => process.exit(), 1_000).unref());
}

async function start(args: string[]): Promise<void> {
  const [first, format = ""] = args;
  if (first === processArguments.watchedService) await import("./commands/serve/watched-service.ts");
  else if (first === processArguments.syntaxCheck)
    await (await import("./config/module.ts")).failWithSyntaxError(format);
  else await run(args);
}

void start(process.argv.slice(2)); // no `await`, because the bundle of the package is a CommonJS module
