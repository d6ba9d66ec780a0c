/** The shell that runs a command: its streams, folder and signals, and what happens if an output cannot be written. */
import { AsyncLocalStorage } from "node:async_hooks";
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Readable, Writable } from "node:stream";
import { StartError } from "../errors.ts";

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

/** Writes lines of a result to standard output. */
export function print(lines: string | readonly string[]): void {
  shell().stdout.write(joined(lines));
}

/** Writes lines about the work to standard error. */
export function say(lines: string | readonly string[]): void {
  shell().stderr.write(joined(lines));
}

function joined(lines: string | readonly string[]): string {
  return [lines]
    .flat()
    .map((line) => `${line}\n`)
    .join("");
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

/** Writes to a file, or to standard output if `file` is not a path. Throws StartError if it cannot write the file. */
export async function writeText(text: string, file: unknown): Promise<void> {
  if (typeof file !== "string") {
    shell().stdout.write(text);
    return;
  }
  await writeFile(resolve(shell().cwd(), file), text).catch((error: unknown) => {
    throw isSystemError(error) ? cannotWrite(file, error) : error;
  });
}

/**
 * From now on, a failed write to standard output prints one line and sets exit code 1. A closed pipe is not a failure:
 * the reader (`| head`) has read enough. A failed write to standard error is ignored.
 */
export function watchOutput(): void {
  process.stderr.on("error", () => {});
  let isReported = false;
  process.stdout.on("error", (error) => {
    if (!isOutputError(error) || isClosedPipe(error)) return; // another part of the program reports it
    if (isReported) return; // every further write fails too
    isReported = true;
    process.stderr.write(`holdfast: standard output cannot be written: ${describeWriteError(error)}.\n`);
    process.exitCode ||= 1;
  });
}

/** Whether a write to standard output failed. `watchOutput` reports such an error. */
export function isOutputError(error: unknown): error is NodeJS.ErrnoException {
  return isSystemError(error) && (error.syscall === "write" || isClosedPipe(error));
}

/** A file that cannot be written, as an error for the command line. */
export function cannotWrite(file: string, error: NodeJS.ErrnoException): StartError {
  return new StartError(`${file} cannot be written: ${describeWriteError(error)}.`);
}

/** Whether an error has a code. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "code" in error;
}

function isClosedPipe({ code }: NodeJS.ErrnoException): boolean {
  return code === "EPIPE" || code === "ERR_STREAM_PREMATURE_CLOSE";
}

const reasons: Record<string, string> = {
  ENOENT: "its folder does not exist",
  ENOTDIR: "a part of its path is not a folder",
  EISDIR: "it is a folder",
  EACCES: "this user has no permission to write there",
  EPERM: "this user has no permission to write there",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
};

function describeWriteError({ code = "", syscall }: NodeJS.ErrnoException): string {
  return reasons[code] ?? `${code} in ${syscall}`;
}
