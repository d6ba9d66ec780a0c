/** What Node's test runner reports, as a line for each test that has ended, and for each file that begins and ends. */
import { resolve } from "node:path";
import type { TestEvent } from "node:test/reporters";
import { inspect } from "node:util";

/** One line. `file` is an absolute path. */
export type Line =
  | { kind: "begun" | "ended"; file: string }
  | { kind: "passed"; file: string; line: number; name: string }
  | { kind: "failed"; file: string; line: number; name: string; error: string }
  /** `reason` is empty where the test gives none. */
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
    default:
      return undefined;
  }
}

/** Whether this is of a file as a whole. */
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
  // A suite, or a test with others in it, fails with what is in it: that is listed already.
  if (error !== undefined && "failureType" in error && error.failureType === "subtestsFailed")
    return undefined;
  if (isPassed) return data.details.type === "suite" ? undefined : { kind: "passed", ...at };
  // An error with a Promise or a function in it comes from the other process as an object that can only be printed.
  const cause: unknown = error?.cause ?? error;
  return { kind: "failed", ...at, error: textOf(cause) };
}

function textOf(cause: unknown): string {
  if (cause instanceof Error) return cause.message;
  return typeof cause === "string" ? cause : inspect(cause);
}
