/** Files of known programs: the command and the service import them with the same result, and refuse them with the same advice. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { optionAdvice } from "../../src/commands/import/import-flags.ts";
import type { Advice } from "../../src/import/items.ts";
import { type ImportTexts, importOptionNames, importOptions } from "../../src/import/options.ts";
import { run } from "../commands/cli.ts";
import { makeFolder } from "../folder.ts";
import { check } from "../http/check.ts";
import { startFor, startServiceForFile } from "../http/service.ts";
import {
  collectionFor,
  collections,
  comparable,
  type KnownFile,
  knownFiles,
  type Numbers,
  type Refusal,
} from "./known-files.ts";

const folder = "test/import/files";
const contents = Object.fromEntries(
  readdirSync(folder).map((name) => [name, readFileSync(`${folder}/${name}`)]),
);
const cwd = makeFolder({ ...contents, "holdfast.config.json": JSON.stringify({ collections }) });
const service = await startServiceForFile({ collections });

const isCsv = ({ name }: KnownFile) => /\.(csv|txt)$/.test(name);

function flagsOf(options: ImportTexts): string[] {
  return importOptionNames.flatMap((name) => {
    const [flag = ""] = importOptions[name].flag.split(" ");
    return options[name] === undefined ? [] : [flag, options[name]];
  });
}

type Test = Parameters<typeof run>[0];

function byCommand(t: Test, file: KnownFile, options: ImportTexts = {}) {
  const format = file.name.endsWith(".txt") ? ["--format", "csv"] : [];
  return run(t, ["import", collectionFor(file), file.name, ...format, ...flagsOf(options)], { cwd });
}

function overHttp(file: KnownFile, options: ImportTexts = {}) {
  const json = /jsonl$|ndjson$/.test(file.name) ? "application/x-ndjson" : "application/json";
  return service.send({
    method: "POST",
    path: `/api/v1/${collectionFor(file)}/_import?${new URLSearchParams(options)}`,
    headers: { "Content-Type": isCsv(file) ? "text/csv" : json },
    body: contents[file.name] as Buffer,
  });
}

const queryAdvice: Advice = (option, value) => `add ?${option}=${encodeURIComponent(value)} to the path`;

const listed = async ({ send }: typeof service, file: KnownFile) =>
  comparable((await send({ path: `/api/v1/${collectionFor(file)}` })).json as object[], file);

/** The numbers of what the command prints. */
function printedNumbers(stdout: string): Numbers & { imported: number } {
  const count = (pattern: RegExp) => Number(pattern.exec(stdout)?.[1] ?? 0);
  const imported = count(/^(\d+) resources? imported into /m);
  const conversions = stdout.matchAll(/^(.+): (\d+) converted/gm);
  return {
    imported,
    generated: stdout.includes("the input has no ids") ? imported : count(/^(\d+) resources? had no id /m),
    replaced: count(/^(\d+) resources? had an id that does not fit/m),
    strings: count(/^(\d+) resources? had a number as id/m),
    converted: Object.fromEntries([...conversions].map(([, name, cells]) => [name, Number(cells)])),
  };
}

interface Report {
  imported: number;
  generatedIds: { count: number };
  replacedIds: { count: number };
  stringIds: { count: number };
  columns?: { name: string; converted?: number }[];
  errors: { line: number; pointer?: string; detail: string }[];
}

function reportedNumbers({
  imported,
  generatedIds,
  replacedIds,
  stringIds,
  columns = [],
}: Report): Numbers & { imported: number } {
  return {
    imported,
    generated: generatedIds.count,
    replaced: replacedIds.count,
    strings: stringIds.count,
    converted: Object.fromEntries(
      columns.flatMap(({ name, converted }) => (converted === undefined ? [] : [[name, converted]])),
    ),
  };
}

function numbersOf({ imported, numbers }: KnownFile): Numbers & { imported: number } {
  return {
    ...{ imported: imported?.length ?? 0, generated: 0, replaced: 0, strings: 0, converted: {} },
    ...numbers,
  };
}

async function assertRefused(
  t: Test,
  file: KnownFile,
  { options, says, lines = [] }: Refusal,
): Promise<void> {
  const { exitCode, stdout, stderr } = await byCommand(t, file, options);
  assert.equal(exitCode, 1, stdout);
  const answer = await overHttp(file, options);
  check(answer, { status: 400, problem: "INVALID_IMPORT" });
  const { detail, report } = answer.json as { detail: string; report?: Report };
  if (says !== undefined) {
    assert.equal(stderr, `holdfast: ${says(optionAdvice)}\n`);
    assert.equal(detail, says(queryAdvice));
    return;
  }
  const printed = lines.map(({ line, attribute, detail: what }) => {
    return `  line ${line}: ${attribute === undefined ? "" : `"${attribute}" `}${what}\n`;
  });
  assert.ok(stderr.startsWith(printed.join("")), stderr);
  assert.deepEqual(
    report?.errors.map(({ line, pointer, detail: what }) => [line, pointer, what]),
    lines.map(({ line, attribute, detail: what }) => [
      line,
      attribute === undefined ? undefined : `#/${attribute}`,
      what,
    ]),
  );
}

describe("a file of", () => {
  for (const file of knownFiles) {
    test(file.program, async (t) => {
      if (file.refused !== undefined) await assertRefused(t, file, file.refused);
      if (file.imported === undefined) return;
      const { exitCode, stdout, stderr } = await byCommand(t, file, file.options);
      assert.equal(exitCode, 0, stderr);
      assert.deepEqual(printedNumbers(stdout), numbersOf(file));
      const answer = await overHttp(file, file.options);
      check(answer, { status: 200 });
      assert.deepEqual(reportedNumbers(answer.json as Report), numbersOf(file));
      assert.deepEqual(await listed(service, file), comparable(file.imported, file));
    });
  }

  test("all these programs, imported by the command, is read in the same form", async (t) => {
    const stored = await startFor(t, { collections, store: { kind: "sqlite", path: `${cwd}/holdfast.db` } });
    for (const file of knownFiles)
      assert.deepEqual(await listed(stored, file), comparable(file.imported ?? [], file), file.name);
  });

  test("the folder is in the table, with its source", () => {
    assert.deepEqual(knownFiles.map(({ name }) => name).sort(), readdirSync(folder).sort());
    for (const { source } of knownFiles) assert.match(source, /^https:/);
  });
});
