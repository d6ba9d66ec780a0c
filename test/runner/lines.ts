/** Converts reports of Node's test runner to lines: one for each finished test. */
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

/** The line of an event of a file; `undefined` for events that have none. */
export function lineOf({ type, data }: TestEvent, file: string): Line | undefined {
  switch (type) {
    case "test:pass":
    case "test:fail":
      return ended(data, type === "test:pass");
    case "test:diagnostic":
      return /^(?:Error|Warning): /.test(data.message)
        ? { kind: "said", file, text: `${data.message}\n` }
        : undefined;
    default:
      return undefined;
  }
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
  return { kind: "failed", ...at, error: textOf(error?.cause ?? error) };
}

function textOf(cause: unknown): string {
  if (cause instanceof Error) return cause.message;
  return typeof cause === "string" ? cause : inspect(cause);
}
