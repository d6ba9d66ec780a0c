import { open } from "node:fs/promises";
import type { Readable } from "node:stream";
import { StartError } from "../../errors.ts";

/** Where an import reads from. */
export interface Source {
  stream: Readable;
  /** In bytes; `undefined` when only the end will tell. */
  size: number | undefined;
}

const chunkBytes = 262_144;

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "it does not exist",
  EACCES: "this user has no permission to read it",
};

/** Thrown when a file cannot be read. */
export class Unreadable extends StartError {}

/** Opens a file, or standard input for `-`. Throws Unreadable. */
export async function openSource(file: string): Promise<Source> {
  if (file === "-") return { stream: process.stdin, size: undefined };
  const handle = await open(file).catch((error: NodeJS.ErrnoException) => {
    throw new Unreadable(`${file} cannot be read: ${reasons[error.code ?? ""] ?? error.message}.`);
  });
  const stat = await handle.stat();
  if (stat.isDirectory()) {
    await handle.close();
    throw new Unreadable(`${file} cannot be read: it is a folder.`);
  }
  return {
    stream: handle.createReadStream({ highWaterMark: chunkBytes }),
    size: stat.isFile() ? stat.size : undefined,
  };
}
