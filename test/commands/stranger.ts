/** A user with npm and this Node, but without this clone. */
import { execFile } from "node:child_process";
import { delimiter, dirname } from "node:path";
import { promisify } from "node:util";

/** The environment of a stranger who has this Node first on the path, and nothing of this clone. */
export function strangersEnvironment(): NodeJS.ProcessEnv {
  const env = environmentOfTheMachine();
  return { ...env, PATH: [dirname(process.execPath), env.PATH].join(delimiter) };
}

/** The environment of a shell on this machine, without the variables of npm and this clone. */
export function environmentOfTheMachine(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(npm_.*|NODE_OPTIONS|NODE_PATH|INIT_CWD)$/i.test(name),
  );
  const path = (process.env.PATH ?? "").split(delimiter).filter((entry) => !entry.includes("node_modules"));
  return { ...Object.fromEntries(own), PATH: path.join(delimiter) };
}

/** What npm writes when a stranger runs it. */
export async function npm(args: readonly string[], cwd: string): Promise<string> {
  const { stdout } = await promisify(execFile)("npm", args, { cwd, env: strangersEnvironment() });
  return stdout;
}

/** The output of `npm pack --json` for a package. */
export interface Packed {
  filename: string;
  files: { path: string }[];
}
