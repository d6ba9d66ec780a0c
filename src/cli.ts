/** The start of the command line. `bin/holdfast.js` has already checked the version of Node. */
import { enableCompileCache } from "node:module";

// The next start is faster: it does not strip types and compile again. Threads find the cache in the environment.
const { directory } = enableCompileCache();
if (directory !== undefined) process.env.NODE_COMPILE_CACHE = directory;

const [{ watchOutput }, { runCli }] = await Promise.all([
  import("./commands/output.ts"),
  import("./commands/run.ts"),
]);
watchOutput();
const exitCode = await runCli(process.argv.slice(2), process.env);
if (exitCode !== 0) process.exitCode = exitCode; // 0 must not hide a failure that another part reported
// A configuration file can leave a timer running. It must not keep the process alive.
process.stdout.write("", () => setTimeout(() => process.exit(), 1_000).unref());
