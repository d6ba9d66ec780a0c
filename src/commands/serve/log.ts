/** Where the log goes: stderr, as JSON lines, or readable on a terminal. */
import { writeSync } from "node:fs";
import { type Logger, pino } from "pino";

/** The program's log. Stdout stays free for what a command is asked for. */
export async function createLog(isTerminal: boolean): Promise<Logger> {
  if (!isTerminal) return pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, lossyStderr);
  const { default: pretty } = await import("pino-pretty");
  return pino(
    { base: null },
    pretty({
      destination: 2,
      sync: true,
      ignore: "requestId,method,path,status,ms",
      messageFormat: (line, messageKey) =>
        line.method === undefined
          ? String(line[messageKey])
          : `${line.method} ${line.path} ${line.status} ${line.ms} ms`,
    }),
  );
}

/** A line that cannot be written, on a full disk for one, is dropped: pino's own destination would try for ever. */
const lossyStderr = {
  write(line: string): void {
    try {
      writeSync(2, line);
    } catch {
      // there is nowhere left to tell it
    }
  },
};
