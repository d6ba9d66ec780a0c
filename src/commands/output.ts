/** Where a command writes to, and what becomes of one whose output cannot be written. */
import { writeFile } from "node:fs/promises";
import { StartError } from "../errors.ts";

/** Writes to the file that was named, else to standard output. Throws StartError where the file cannot be written. */
export async function writeText(text: string, file: unknown): Promise<void> {
  if (typeof file !== "string") {
    process.stdout.write(text);
    return;
  }
  try {
    await writeFile(file, text);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new StartError(`${file} cannot be written: ${describeWriteError(error)}.`);
  }
}

/**
 * From now on, standard output that cannot be written is one line and exit code 1. A reader that has seen enough
 * (`| head`) is no failure, and where standard error cannot be written there is nowhere left to tell it.
 */
export function watchOutput(): void {
  process.stderr.on("error", () => {});
  let isTold = false;
  process.stdout.on("error", (error) => {
    if (!isOutputError(error) || isClosedPipe(error)) return; // told by whoever threw it
    if (isTold) return; // every further write fails as well
    isTold = true;
    process.stderr.write(`holdfast: standard output cannot be written: ${describeWriteError(error)}.\n`);
    process.exitCode ||= 1;
  });
}

/** Whether a write to standard output failed, which `watchOutput` tells. */
export function isOutputError(error: unknown): error is NodeJS.ErrnoException {
  return isSystemError(error) && (error.syscall === "write" || isClosedPipe(error));
}

function isClosedPipe({ code }: NodeJS.ErrnoException): boolean {
  return code === "EPIPE" || code === "ERR_STREAM_PREMATURE_CLOSE";
}

/** Whether an error carries a code. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "code" in error;
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

/** Why something cannot be written, as the end of a sentence. */
export function describeWriteError({ code = "", syscall }: NodeJS.ErrnoException): string {
  return reasons[code] ?? `${code} in ${syscall}`;
}
