/** The results of a run of tests: failed and skipped tests with reasons, and the number of tests. */
import { relative, resolve } from "node:path";
import type { Line } from "./lines.ts";
import type { Job } from "./names.ts";

/** The results of one or several files. */
export interface Results {
  passed: number;
  failed: readonly Failed[];
  skipped: readonly Skipped[];
}

interface Named {
  /** Path, line and name, as in `test/http/create:12  a sentence`. */
  test: string;
}
type Failed = Named & {
  error: string;
  /** The further lines of the error. If the file failed as a whole, also the last ones of its standard error output. */
  output?: readonly string[];
  /** The command that runs the test again. */
  repeat?: string;
  /** What repeats a test whose error or title names a seed. */
  random?: Random;
};

interface Random {
  file: string;
  test: string;
  store?: "sqlite" | "postgres";
}
type Skipped = Named & { reason: string };

/**
 * The results of one run of a file. A skip without a reason is a failure, and a file that has started and not ended is one too. A run on
 * PostgreSQL has ` (on PostgreSQL)` after the name of each test.
 */
export function resultsOf(lines: readonly Line[], run: Pick<Job, "store" | "env"> = {}): Results {
  const note = run.store === "postgres" ? " (on PostgreSQL)" : "";
  const nameOf = (line: TestLine) => `${pathAndName(line)}${note}`;
  const skips = lines.filter((line) => line.kind === "skipped");
  const failures = lines.filter((line) => line.kind === "failed");
  return {
    passed: lines.filter(({ kind }) => kind === "passed").length,
    failed: [
      ...failures.map((line) => ({
        test: nameOf(line),
        error: line.error,
        output: [...furtherLines(line.error), ...(isWholeFile(line) ? lastOutput(lines) : [])],
        repeat: repeatCommand(line, run),
        ...(/seed/i.test(line.name + line.error) && { random: randomOf(line, run.store) }),
      })),
      ...skips.filter(({ reason }) => reason === "").map((line) => ({ test: nameOf(line), error: noReason })),
      ...unended(lines).map((file) => ({ test: `${file}${note}`, error: "The file did not finish." })),
    ],
    skipped: skips
      .filter(({ reason }) => reason !== "")
      .map((line) => ({ test: nameOf(line), reason: line.reason })),
  };
}

function randomOf({ file, name }: TestLine, store: Job["store"]): Random {
  return { file: shown(file), test: name, ...(store !== undefined && { store }) };
}

/** The command that runs a failed test again: with the same store, and the same seed and path if it is a property. */
function repeatCommand(line: Extract<Line, { kind: "failed" }>, { store, env }: Pick<Job, "store" | "env">) {
  const { HOLDFAST_TEST_SEED: usual } = { ...process.env, ...env };
  const [, seed = usual, path] = /\{ seed: (-?\d+), path: "([\d:]+)"/.exec(line.error) ?? [];
  const variables = [
    ...(store === "postgres" ? ["HOLDFAST_TEST_STORE=postgres"] : []),
    ...(seed === undefined ? [] : [`HOLDFAST_TEST_SEED=${seed}`]),
    ...(path === undefined ? [] : [`HOLDFAST_TEST_PATH=${path}`]),
  ];
  const pattern = isWholeFile(line) ? [] : [`--test-name-pattern=${quoted(patternOf(line.name))}`];
  return [...variables, "npm run test:run --", shown(line.file), ...pattern].join(" ");
}

/** A pattern that matches only this title. */
export const patternOf = (title: string) => `${title.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&")}$`;

/** A text as a word of a shell. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

const noReason = 'It is skipped without a reason. Give one: { skip: "needs x: apt-get install x" }.';

const shownOutput = 12;

/** Of an error, so many characters of a line are shown: a counterexample can be long. */
const longestLine = 1_000;

function lastOutput(lines: readonly Line[]): string[] {
  const text = lines.map((line) => (line.kind === "said" ? line.text : "")).join("");
  return text === "" ? [] : text.trimEnd().split("\n").slice(-shownOutput);
}

/** The lines of an error after the first one, without empty ones: so many that a property shows its seed, path and example. */
function furtherLines(error: string): string[] {
  const lines = error.split("\n").slice(1);
  return lines.filter((line) => line.trim() !== "").slice(0, shownOutput - 1);
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
  for (const { test, error, output = [], repeat } of failed)
    lines.push(
      `  ${test}`,
      `    ${firstLine(error)}`,
      ...output.map((line) => `    | ${line.slice(0, longestLine)}`),
      ...(repeat === undefined ? [] : [`    Run it again: ${repeat}`]),
    );
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
