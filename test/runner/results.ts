/** What a run of all tests comes to: what failed, what was skipped and why, and how many there were. */
import { readFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import type { Line } from "./reporter.ts";

/** The results of one or several runs. */
export interface Results {
  passed: number;
  failed: readonly Failed[];
  skipped: readonly Skipped[];
}

interface Told {
  /** Path, line and name, as in `test/http/create.test.ts:12  a sentence`. */
  test: string;
}
type Failed = Told & { error: string };
type Skipped = Told & { reason: string };

/** Reads what `reporter.ts` has written. A skip without a reason, and a file that has not ended, are failures. */
export function readResults(path: string): Results {
  const lines = readFileSync(path, "utf8").split("\n").filter(Boolean);
  const all = lines.map((line) => JSON.parse(line) as Line);
  const skips = all.filter((line) => line.kind === "skipped");
  const failures = all.filter((line) => line.kind === "failed");
  return {
    passed: all.filter(({ kind }) => kind === "passed").length,
    failed: [
      ...failures.map((line) => ({ test: toldOf(line), error: line.error })),
      ...skips.filter(({ reason }) => reason === "").map((line) => ({ test: toldOf(line), error: noReason })),
      ...unended(all).map((file) => ({ test: file, error: "The file did not finish." })),
    ],
    skipped: skips
      .filter(({ reason }) => reason !== "")
      .map((line) => ({ test: toldOf(line), reason: line.reason })),
  };
}

const noReason = 'It is skipped without a reason. Give one: { skip: "needs x: apt-get install x" }.';

/** The files that have begun and not ended. */
export function unended(lines: readonly Line[]): string[] {
  const open = new Set<string>();
  for (const { kind, file } of lines) {
    if (kind === "begun") open.add(file);
    else if (kind === "ended") open.delete(file);
  }
  return [...open].map(shown);
}

/** The results of several runs together. */
export function sum(results: readonly Results[]): Results {
  return {
    passed: results.reduce((all, { passed }) => all + passed, 0),
    failed: results.flatMap(({ failed }) => failed),
    skipped: results.flatMap(({ skipped }) => skipped),
  };
}

/** What is printed at the end. The last line is `N passed, N failed, N skipped`, which CI reads. */
export function describeResults({ passed, failed, skipped }: Results): string {
  const byReason = Map.groupBy(skipped, ({ reason }) => reason);
  const lines: string[] = [];
  if (skipped.length > 0) lines.push("", "Skipped:");
  for (const [reason, tests] of byReason)
    lines.push(`  ${reason}`, ...tests.map(({ test }) => `    ${test}`));
  if (failed.length > 0) lines.push("", "Failed:");
  for (const { test, error } of failed) lines.push(`  ${test}`, `    ${firstLine(error)}`);
  return [...lines, "", `${passed} passed, ${failed.length} failed, ${skipped.length} skipped`].join("\n");
}

function toldOf({ file, line, name }: Exclude<Line, { kind: "begun" | "ended" }>): string {
  return resolve(name) === file ? shown(file) : `${shown(file)}:${line}  ${name}`;
}

function shown(file: string): string {
  const path = relative(process.cwd(), file);
  return path.startsWith("..") ? file : path;
}

function firstLine(text: string): string {
  return text.split("\n")[0] ?? "";
}
