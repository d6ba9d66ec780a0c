/** The results of a run of tests: failed and skipped tests with reasons, and the number of tests. */
import { relative, resolve } from "node:path";
import type { Line } from "./lines.ts";

/** The results of one or several files. */
export interface Results {
  passed: number;
  failed: readonly Failed[];
  skipped: readonly Skipped[];
}

interface Named {
  /** Path, line and name, as in `test/http/create.test.ts:12  a sentence`. */
  test: string;
}
/** `output`: the last lines that the process of a file wrote to its standard error output, if the file failed as a whole. */
type Failed = Named & { error: string; output?: readonly string[] };
type Skipped = Named & { reason: string };

/**
 * The results of one file. A skip without a reason is a failure, and a file that has started and not ended is one too. `note` follows the
 * name of each test, as in ` (on PostgreSQL)`.
 */
export function resultsOf(lines: readonly Line[], note = ""): Results {
  const nameOf = (line: TestLine) => `${pathAndName(line)}${note}`;
  const skips = lines.filter((line) => line.kind === "skipped");
  const failures = lines.filter((line) => line.kind === "failed");
  return {
    passed: lines.filter(({ kind }) => kind === "passed").length,
    failed: [
      ...failures.map((line) => ({
        test: nameOf(line),
        error: line.error,
        ...(isWholeFile(line) ? { output: [...furtherLines(line.error), ...lastOutput(lines)] } : {}),
      })),
      ...skips.filter(({ reason }) => reason === "").map((line) => ({ test: nameOf(line), error: noReason })),
      ...unended(lines).map((file) => ({ test: `${file}${note}`, error: "The file did not finish." })),
    ],
    skipped: skips
      .filter(({ reason }) => reason !== "")
      .map((line) => ({ test: nameOf(line), reason: line.reason })),
  };
}

const noReason = 'It is skipped without a reason. Give one: { skip: "needs x: apt-get install x" }.';

const shownOutput = 12;

function lastOutput(lines: readonly Line[]): string[] {
  const text = lines.map((line) => (line.kind === "said" ? line.text : "")).join("");
  return text === "" ? [] : text.trimEnd().split("\n").slice(-shownOutput);
}

/** The lines of an error after the first one, as the output of its file. */
function furtherLines(error: string): string[] {
  return error.split("\n").slice(1);
}

/** The files that have started and not ended. */
function unended(lines: readonly Line[]): string[] {
  const open = new Set<string>();
  for (const { kind, file } of lines) {
    if (kind === "begun") open.add(file);
    else if (kind === "ended") open.delete(file);
  }
  return [...open].map(shown);
}

/** The results of several files together. */
export function sum(results: readonly Results[]): Results {
  return {
    passed: results.reduce((all, { passed }) => all + passed, 0),
    failed: results.flatMap(({ failed }) => failed),
    skipped: results.flatMap(({ skipped }) => skipped),
  };
}

/** A failed test in one line, for the moment in which it fails. */
export function describeFailure(line: Extract<Line, { kind: "failed" }>): string {
  return `✖ ${pathAndName(line)}: ${firstLine(line.error)}`;
}

/** The text at the end of a run. The last line is `N passed, N failed, N skipped`, which CI reads. */
export function describeResults({ passed, failed, skipped }: Results): string {
  const byReason = Map.groupBy(skipped, ({ reason }) => reason);
  const lines: string[] = [];
  if (skipped.length > 0) lines.push("", "Skipped:");
  for (const [reason, tests] of byReason)
    lines.push(`  ${reason}`, ...tests.map(({ test }) => `    ${test}`));
  if (failed.length > 0) lines.push("", "Failed:");
  for (const { test, error, output = [] } of failed)
    lines.push(`  ${test}`, `    ${firstLine(error)}`, ...output.map((line) => `    | ${line}`));
  return [...lines, "", `${passed} passed, ${failed.length} failed, ${skipped.length} skipped`].join("\n");
}

type TestLine = Exclude<Line, { kind: "begun" | "ended" | "said" }>;

function isWholeFile({ file, name }: TestLine): boolean {
  return resolve(name) === file;
}

function pathAndName(test: TestLine): string {
  const { file, line, name } = test;
  return isWholeFile(test) ? shown(file) : `${shown(file)}:${line}  ${name}`;
}

/** The path of a file from here, or the whole path if the file is elsewhere. */
export function shown(file: string): string {
  const path = relative(process.cwd(), file);
  return path.startsWith("..") ? resolve(file) : path;
}

function firstLine(text: string): string {
  return text.split("\n")[0] ?? "";
}
