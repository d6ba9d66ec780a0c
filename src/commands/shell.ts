/** What a command gets from the shell that runs it. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Readable, Writable } from "node:stream";

/** The standard streams, and the folder that relative paths start from. */
export interface Shell {
  stdin: Readable;
  stdout: Writable;
  stderr: Writable & { isTTY?: boolean };
  cwd(): string;
}

const current = new AsyncLocalStorage<Shell>();

/** The shell of the command that runs here. @default the process */
export function shell(): Shell {
  return current.getStore() ?? process;
}

/** Runs a command with these streams and this folder. Other commands can run at the same time. */
export function inShell<T>(given: Shell, command: () => T): T {
  return current.run(given, command);
}

/** A command that a signal interrupted. The program prints the message, and ends with exit code 130. */
export class Interrupted extends Error {}

/** The exit code of an interrupted command, which shells expect: 128 and the number of SIGINT. */
export const interruptedExitCode = 130;

/** Runs work that the first SIGINT or SIGTERM aborts, with `Interrupted` as the reason. A second signal ends the process. */
export async function interruptible<T>(
  message: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const interrupt = () => controller.abort(new Interrupted(message));
  const signals = ["SIGINT", "SIGTERM"] as const;
  for (const signal of signals) process.once(signal, interrupt);
  try {
    return await work(controller.signal);
  } finally {
    for (const signal of signals) process.off(signal, interrupt);
  }
}
