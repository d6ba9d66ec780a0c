/** The log of the service: JSON lines on standard error, or readable lines on a terminal. */
import type { Logger } from "pino";
import { createLineLog } from "../../server/log-lines.ts";
import { LossyOutput } from "./lossy-output.ts";

/** The log of this process. */
export interface ProcessLog {
  log: Logger;
  /** Writes complete lines of other threads, so that lines are never mixed. */
  writeLines(lines: readonly string[]): void;
}

/** Creates the log. It drops lines instead of blocking the service. */
export async function createLog(isTerminal: boolean): Promise<ProcessLog> {
  const toLine = isTerminal ? await createPretty() : (line: string) => line;
  const output = new LossyOutput(process.stderr.fd, (dropped) =>
    log.warn(`${dropped} log lines were dropped because they could not be written`),
  );
  process.once("exit", () => output.close());
  const write = (line: string) => output.write(toLine(line));
  const log = createLineLog(write);
  return { log, writeLines: (lines) => lines.forEach(write) };
}

async function createPretty(): Promise<(line: string) => string> {
  const { prettyFactory } = await import("pino-pretty");
  const pretty = prettyFactory({
    ignore: "requestId,method,path,status,ms,hint",
    messageFormat: (line, messageKey) =>
      line.method === undefined
        ? String(line[messageKey])
        : `${line.method} ${line.path} ${line.status} ${line.ms} ms${line.hint === undefined ? "" : `: ${line.hint}`}`,
  });
  return (line) => pretty(line) ?? "";
}
