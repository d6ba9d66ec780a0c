/** The command line's entry: `bin/holdfast.js` has made sure that Node is new enough. */
import { enableCompileCache } from "node:module";

// The next start need not strip types and compile again. Threads look for the cache in the environment.
const { directory } = enableCompileCache();
if (directory !== undefined) process.env.NODE_COMPILE_CACHE = directory;

const [{ watchOutput }, { runCli }] = await Promise.all([
  import("./commands/output.ts"),
  import("./commands/run.ts"),
]);
watchOutput();
const exitCode = await runCli(process.argv.slice(2), process.env);
if (exitCode !== 0) process.exitCode = exitCode; // 0 must not cover up a failure that came from elsewhere
// What a configuration file has left running, such as a timer, does not keep a command that is done.
process.stdout.write("", () => setTimeout(() => process.exit(), 1_000).unref());
