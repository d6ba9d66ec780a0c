/** The log of the service: JSON lines on standard error, or readable lines on a terminal. */
import { type Logger, pino } from "pino";
import { LossyOutput } from "./lossy-output.ts";

/** Creates the log. It drops lines instead of blocking the service. */
export async function createLog(isTerminal: boolean): Promise<Logger> {
  const toLine = isTerminal ? await createPretty() : (line: string) => line;
  const output = new LossyOutput(process.stderr.fd, (dropped) =>
    log.warn(`${dropped} log lines were dropped because they could not be written`),
  );
  process.once("exit", () => output.close());
  const options = isTerminal ? { base: null } : { base: null, timestamp: pino.stdTimeFunctions.isoTime };
  const log = pino(options, { write: (line) => output.write(toLine(line)) });
  return log;
}

async function createPretty(): Promise<(line: string) => string> {
  const { prettyFactory } = await import("pino-pretty");
  const pretty = prettyFactory({
    ignore: "requestId,method,path,status,ms",
    messageFormat: (line, messageKey) =>
      line.method === undefined
        ? String(line[messageKey])
        : `${line.method} ${line.path} ${line.status} ${line.ms} ms`,
  });
  return (line) => pretty(line) ?? "";
}
