/** The lines of the log. All threads write lines of the same form. */
import { type Logger, pino } from "pino";

/** Creates a log that calls `write` with each complete line. */
export function createLineLog(write: (line: string) => void): Logger {
  return pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, { write });
}
