/** The command line's entry: `bin/holdfast.js` has made sure that Node is new enough. */
import { enableCompileCache } from "node:module";

enableCompileCache(); // the next start need not strip types and compile again
const { runCli } = await import("./commands/run.ts");
process.exitCode = await runCli(process.argv.slice(2));
