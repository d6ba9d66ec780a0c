import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** A program of this folder that runs. */
export interface Program {
  /** Its first line, or why it could not be started. */
  line: Promise<string>;
  /** Ends its input, or kills it, and waits until it is gone. */
  end(signal?: NodeJS.Signals): Promise<void>;
}

/** Starts a program of this folder, as another user if told so. */
export function startProgram(
  name: string,
  args: readonly string[],
  who: { uid?: number; gid?: number } = {},
): Program {
  const child = spawn(process.execPath, [join(import.meta.dirname, name), ...args], {
    stdio: ["pipe", "pipe", "inherit"],
    ...who,
  });
  const exited = once(child, "close").catch(() => {}); // `line` reports why it could not start
  const failed = once(child, "error").then(([error]) => String(error));
  const line = once(createInterface(child.stdout), "line").then(([text]) => String(text));
  return {
    line: Promise.race([line, failed, exited.then(() => `${name} ended without a line`)]),
    async end(signal) {
      if (signal === undefined) child.stdin.end();
      else child.kill(signal);
      await exited;
    },
  };
}
