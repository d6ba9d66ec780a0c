/** Converts reports of Node's test runner to lines: one for each finished test, and for the start and end of each file. */
import { resolve } from "node:path";
import type { TestEvent } from "node:test/reporters";
import { inspect } from "node:util";

/** One line. `file` is an absolute path. */
export type Line =
  | { kind: "begun" | "ended"; file: string }
  /** What the process of a file wrote to its standard error output, or an error of the file that belongs to no test. */
  | { kind: "said"; file: string; text: string }
  | { kind: "passed"; file: string; line: number; name: string }
  | { kind: "failed"; file: string; line: number; name: string; error: string }
  /** `reason` is empty if the test has none. */
  | { kind: "skipped"; file: string; line: number; name: string; reason: string };

/** The line of an event; `undefined` for events that have none. */
export function lineOf({ type, data }: TestEvent): Line | undefined {
  switch (type) {
    case "test:dequeue":
      return isFile(data) ? { kind: "begun", file: resolve(data.name) } : undefined;
    case "test:complete":
      return isFile(data) ? { kind: "ended", file: resolve(data.name) } : undefined;
    case "test:pass":
    case "test:fail":
      return ended(data, type === "test:pass");
    case "test:stderr":
      return { kind: "said", file: resolve(data.file), text: data.message };
    case "test:diagnostic":
      return data.file === undefined || !/^(?:Error|Warning): /.test(data.message)
        ? undefined
        : { kind: "said", file: resolve(data.file), text: `${data.message}\n` };
    default:
      return undefined;
  }
}

/** Whether an event is about a whole file. */
function isFile({ name, file }: { name: string; file?: string | undefined }): boolean {
  return file !== undefined && resolve(name) === file;
}

type Ended = Extract<TestEvent, { type: "test:pass" | "test:fail" }>["data"];

function ended(data: Ended, isPassed: boolean): Line | undefined {
  const { file = "", line = 0, name, skip, todo } = data;
  const at = { file, line, name };
  const mark = skip ?? todo;
  if (mark !== undefined && mark !== false)
    return { kind: "skipped", ...at, reason: mark === true ? "" : String(mark).trim() };
  const error = "error" in data.details ? data.details.error : undefined;
  // A suite or a test with inner tests fails together with them. The inner tests are already in the list.
  if (error !== undefined && "failureType" in error && error.failureType === "subtestsFailed")
    return undefined;
  if (isPassed) return data.details.type === "suite" ? undefined : { kind: "passed", ...at };
  // An error with a Promise or a function in it comes from the other process as an object that can only be printed.
  const cause: unknown = error?.cause ?? error;
  // A failed hook outside all tests is an event about its file, too, but no process has ended.
  const hasEnded = isFile(data) && error !== undefined && ("exitCode" in error || "signal" in error);
  return { kind: "failed", ...at, error: hasEnded ? endOf(error) : textOf(cause) };
}

/** How the process of a file ended that failed although its tests did not. */
function endOf(error: object | undefined): string {
  const { exitCode, signal } = { exitCode: undefined, signal: undefined, ...error };
  return `The process ended with ${signal === null || signal === undefined ? `exit code ${exitCode}` : `signal ${signal}`}.`;
}

function textOf(cause: unknown): string {
  if (cause instanceof Error) return cause.message;
  return typeof cause === "string" ? cause : inspect(cause);
}
