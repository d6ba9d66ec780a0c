import { StartError } from "../../errors.ts";
import { counted, sized } from "../words.ts";
import type { ImportResult } from "./import.ts";
import type { Place } from "./pieces.ts";
import type { Tally } from "./tally.ts";

/** What the summary tells beside the result. */
export interface Circumstances {
  collection: string;
  seconds: number;
  /** Of the whole store. */
  /** What the store takes on the disk, where that is known. */
  bytes: number | undefined;
}

/** Says what an import did: the bad lines on stderr, the rest on stdout. Throws StartError when nothing was written. */
export function reportImport(result: ImportResult, { collection, seconds, bytes }: Circumstances): void {
  if (!result.isWritten) {
    printErrors(linesOf(result.bad));
    throw new StartError(`nothing was imported: ${verdict(result)}`);
  }
  printIds(result);
  printSkipped(result.bad.count > 0 ? [counted(result.bad.count, "resource")] : [], linesOf(result.bad));
  print(`${counted(result.imported, "resource")} imported into ${collection} ${sumOf(seconds, bytes)}`);
}

/** What became of one list of a database. */
export interface Part {
  collection: string;
  result: ImportResult;
}

/** What else there is to say of a database. */
export interface DatabaseCircumstances {
  /** Members that are no lists for a collection. */
  bad: readonly { line: number; name: string; reason: string }[];
  /** Members that are single objects. */
  objects: readonly { line: number; name: string }[];
  seconds: number;
  /** What the store takes on the disk, where that is known. */
  bytes: number | undefined;
}

/** Says what the import of a database did, as `reportImport` does. */
export function reportDatabase(
  parts: readonly Part[],
  { bad, objects, seconds, bytes }: DatabaseCircumstances,
): void {
  for (const { collection, result } of parts) printIds(result, `${collection}: `);
  for (const { line, name } of objects)
    process.stderr.write(
      `holdfast: skipped ${JSON.stringify(name)} on line ${line}: a single object is not a collection. ${asList(name)}\n`,
    );
  const resources = sum(parts, ({ result }) => result.bad.count);
  const skipped = [
    ...(bad.length > 0 ? [counted(bad.length, "member")] : []),
    ...(resources > 0 ? [counted(resources, "resource")] : []),
  ];
  printSkipped(skipped, badLinesOf(parts, bad));
  for (const { collection, result } of parts)
    print(`${counted(result.imported, "resource")} imported into ${collection}`);
  const imported = sum(parts, ({ result }) => result.imported);
  print(
    `${counted(imported, "resource")} in ${counted(parts.length, "collection")} ${sumOf(seconds, bytes)}`,
  );
}

/** Says how to keep a single object. */
function asList(name: string): string {
  return `To import it, put it in a list: ${JSON.stringify(name)}: [{ "id": "1", … }] becomes ${name}/1`;
}

/** Throws StartError, which says that the file has only single objects. */
export function refuseObjects(objects: DatabaseCircumstances["objects"], file: string): never {
  printErrors(
    objects.map(
      ({ line, name }) =>
        `line ${line}: ${JSON.stringify(name)} is a single object, not a list. ${asList(name)}`,
    ),
  );
  throw new StartError(`nothing was imported: ${file} contains no list of resources`);
}

/** Says why nothing of a database was imported. Throws StartError. */
export function refuseDatabase(parts: readonly Part[], bad: DatabaseCircumstances["bad"]): never {
  printErrors(badLinesOf(parts, bad));
  const broken = parts.find(({ result }) => result.isBroken);
  if (broken !== undefined)
    throw new StartError(`nothing was imported: the rest of ${broken.collection} cannot be read`);
  const faults = parts.filter(({ result }) => result.bad.count > 0);
  const verdicts = faults.map(({ collection, result }) => `${share(result)} in ${collection}`);
  if (bad.length > 0) verdicts.unshift(counted(bad.length, "member"));
  throw new StartError(
    `nothing was imported. Invalid: ${verdicts.join(", ")}. Correct the input, or import the rest with --skip-invalid.`,
  );
}

function badLinesOf(parts: readonly Part[], bad: DatabaseCircumstances["bad"]): string[] {
  return [
    ...bad.map(({ line, name, reason }) => `line ${line}: ${JSON.stringify(name)}: ${reason}`),
    ...parts.flatMap(({ collection, result }) => linesOf(result.bad).map((text) => `${collection}, ${text}`)),
  ];
}

function printIds({ imported, withoutId, unfitId, numberId }: ImportResult, prefix = ""): void {
  if (withoutId.count > 1 && withoutId.count === imported) {
    print(`${prefix}the input has no ids, so each resource got a generated one`);
  } else if (withoutId.count > 0) {
    const what = `${counted(withoutId.count, "resource")} had no id and got a generated one`;
    print(`${prefix}${what}: ${places(withoutId)}`);
  }
  if (unfitId.count > 0) {
    const what = `${counted(unfitId.count, "resource")} had an id that does not fit the collection and got a generated one`;
    print(`${prefix}${what}: ${places(unfitId)}`);
  }
  if (numberId.count > 0) {
    const what = `${counted(numberId.count, "resource")} had a number as id, which is now a string`;
    print(`${prefix}${what}: ${places(numberId)}`);
  }
}

function printSkipped(what: readonly string[], lines: readonly string[]): void {
  if (what.length === 0) return;
  process.stderr.write(`holdfast: skipped ${what.join(" and ")}:\n`);
  printErrors(lines);
}

function sumOf(seconds: number, bytes: number | undefined): string {
  const taken = bytes === undefined ? "" : `; the store takes ${sized(bytes)} on disk`;
  return `in ${seconds.toFixed(1)} s${taken}`;
}

function verdict(result: ImportResult): string {
  return result.isBroken
    ? "the rest of the input cannot be read. Correct it at the place above."
    : `${share(result)} ${result.bad.count === 1 ? "is" : "are"} invalid. Correct the input, or import the rest with --skip-invalid.`;
}

function share({ bad, imported }: ImportResult): string {
  return `${bad.count.toLocaleString("en")} of ${counted(bad.count + imported, "resource")}`;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function printErrors(lines: readonly string[]): void {
  for (const line of lines) process.stderr.write(`  ${line}\n`);
}

function linesOf(bad: Tally): string[] {
  const first = bad.first();
  const lines = first.map(({ place, what }) => `${toText(place)}: ${what}`);
  const more = bad.count - first.length;
  return more > 0 ? [...lines, `and ${more.toLocaleString("en")} more`] : lines;
}

function places(tally: Tally): string {
  const shown = tally
    .first()
    .map(({ place, what }) => (what === "" ? toText(place) : `${toText(place)} (${what})`));
  return `${shown.join(", ")}${tally.count > shown.length ? ", …" : ""}`;
}

function toText({ line, element }: Place): string {
  return element === undefined ? `line ${line}` : `element ${element} on line ${line}`;
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
