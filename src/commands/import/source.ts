/**
 * The input of an import: opens the file or standard input, ends the import on SIGINT and SIGTERM, and decides between JSON
 * and CSV. It does not read the content.
 */
import { open } from "node:fs/promises";
import { extname, resolve } from "node:path";
import type { Readable } from "node:stream";
import { StartError } from "../../errors.ts";
import type { Flags } from "../options.ts";
import { interruptible, shell } from "../shell.ts";

/** An open input. */
export interface Source {
  stream: Readable;
  /** The size in bytes; `undefined` for standard input, a pipe or a device. */
  size: number | undefined;
}

/** A file that cannot be read. */
export class UnreadableSource extends StartError {}

/**
 * Opens a file, or standard input for `-`, runs `work`, and closes the input. SIGINT and SIGTERM interrupt the import. Throws
 * UnreadableSource.
 */
export async function importFrom(
  file: string,
  work: (source: Source, signal: AbortSignal) => Promise<void>,
  interrupted = "interrupted; nothing was imported",
): Promise<void> {
  const source = await openSource(file);
  const { stream } = source;
  stream.on("error", () => {}); // the reader of the stream gets the error too
  try {
    await interruptible(interrupted, (signal) => {
      signal.addEventListener("abort", () => stream.destroy(signal.reason));
      return work(source, signal);
    });
  } finally {
    stream.destroy();
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "it does not exist",
  EACCES: "this user has no permission to read it",
};

async function openSource(file: string): Promise<Source> {
  if (file === "-") return { stream: shell().stdin, size: undefined };
  const handle = await open(resolve(shell().cwd(), file)).catch((error: NodeJS.ErrnoException) => {
    throw new UnreadableSource(`${file} cannot be read: ${reasons[error.code ?? ""] ?? error.message}.`);
  });
  const stat = await handle.stat();
  if (stat.isDirectory()) {
    await handle.close();
    throw new UnreadableSource(`${file} cannot be read: it is a folder.`);
  }
  return {
    stream: handle.createReadStream({ highWaterMark: 262_144 }),
    size: stat.isFile() ? stat.size : undefined,
  };
}

/** The format of an input. */
export type ImportFormat = { kind: "json" } | { kind: "csv"; delimiter: string };

const delimiters: Readonly<Record<string, string>> = { ".csv": ",", ".tsv": "\t" };

/** The format from the options `--format` and `--delimiter`, or from the name of the file. Throws StartError. */
export function formatOf(file: string, { format, delimiter }: Flags): ImportFormat {
  const byName = delimiters[extname(file).toLowerCase()];
  const isCsv = format === undefined ? byName !== undefined : format === "csv";
  if (isCsv) {
    return { kind: "csv", delimiter: delimiter === undefined ? (byName ?? ",") : readDelimiter(delimiter) };
  }
  if (delimiter !== undefined) throw new StartError("--delimiter is for CSV: add --format csv.");
  return { kind: "json" };
}

function readDelimiter(delimiter: unknown): string {
  if (delimiter === "tab" || delimiter === "\\t") return "\t";
  if (typeof delimiter === "string" && /^[^"\r\n\p{L}\p{N}]$/u.test(delimiter)) return delimiter;
  throw new StartError(
    `--delimiter must be one character such as "," or ";", or tab, not ${JSON.stringify(delimiter)}.`,
  );
}
