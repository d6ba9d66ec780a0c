/** The program as users install it: JavaScript. From TypeScript, Node loads its compiler in each thread, which takes 20 MB. */
import { spawnSync } from "node:child_process";

let isCompiled = false;

/** Compiles the sources once, and returns the command that runs the program. */
export function compiledProgram(): readonly string[] {
  if (!isCompiled) {
    const { status, stdout } = spawnSync("npm", ["run", "build"], { encoding: "utf8" });
    if (status !== 0) throw new Error(`"npm run build" failed:\n${stdout}`);
    isCompiled = true;
  }
  return [process.execPath, "dist/cli.cjs"];
}
