/** Reports what an import did: errors on standard error, the rest on standard output. */

import { describeViolations } from "../../collection/messages.ts";
import { StartError, type Violation } from "../../errors.ts";
import type { ImportResult, Listed } from "../../import/item-reader.ts";
import type { InputLocation } from "../../import/items.ts";
import { print, say } from "../shell.ts";
import { counted, sized } from "../wording.ts";
import { columnLines, columnNotes } from "./column-report.ts";

/** How long the import took, as text, and the size of the store on disk if that is known. */
export interface Effort {
  /** @default false */
  isDryRun?: boolean;
  time: string;
  bytes: number | undefined;
}

/** The members of a database that are not imported. */
export interface SkippedMembers {
  /** Members that cannot be a collection. */
  invalid: readonly { line: number; name: string; reason: string }[];
  /** Members that are a single object. */
  objects: readonly { line: number; name: string }[];
}

/** Reports the import of one collection. Throws StartError if nothing was imported. */
export function reportImport(result: ImportResult, effort: Effort): void {
  const { invalid, imported, merged, collection, columns = [] } = result;
  const isDryRun = effort.isDryRun === true;
  if (isDryRun) for (const line of columnLines(columns)) print(line);
  if (!result.isAccepted) {
    printErrors(linesOf(invalid));
    throw new StartError(
      result.isBroken
        ? "nothing was imported: the rest of the input cannot be read. Correct it at the place above."
        : `nothing was imported: ${share(result)} ${invalid.count === 1 ? "is" : "are"} invalid. ${correctInput}`,
    );
  }
  if (!isDryRun) for (const line of columnNotes(columns)) print(line);
  printIds(result);
  printSkipped([[invalid.count, "resource"]], linesOf(invalid));
  if (merged !== undefined) {
    const { changed, same } = merged;
    const made = imported - changed;
    const did = isDryRun ? "would be made" : "made";
    const parts = `${made.toLocaleString("en")} ${did}, ${changed.toLocaleString("en")} changed, ${same.toLocaleString("en")} the same`;
    print(`${counted(imported + same, "resource")} in ${collection}: ${parts}, ${describeEffort(effort)}`);
    return;
  }
  const did = isDryRun ? "would be imported" : "imported";
  print(`${counted(imported, "resource")} ${did} into ${collection} ${describeEffort(effort)}`);
}

/** Reports the import of a database. Throws StartError if nothing was imported. */
export function reportDatabase(
  results: readonly ImportResult[],
  { invalid, objects }: SkippedMembers,
  { isDryRun, ...effort }: Effort & { isDryRun: boolean },
): void {
  const invalidLines = [
    ...invalid.map(({ line, name, reason }) => `line ${line}: ${JSON.stringify(name)}: ${reason}`),
    ...results.flatMap((result) => linesOf(result.invalid).map((line) => `${result.collection}, ${line}`)),
  ];
  if (isDryRun || results.some(({ isAccepted }) => !isAccepted)) {
    printErrors(invalidLines);
    throw databaseRefusal(results, invalid.length);
  }
  for (const result of results) printIds(result, `${result.collection}: `);
  for (const { line, name } of objects)
    say(
      `holdfast: skipped ${JSON.stringify(name)} on line ${line}: a single object is not a collection. ${asList(name)}`,
    );
  const invalidResources = results.reduce((sum, result) => sum + result.invalid.count, 0);
  printSkipped(
    [
      [invalid.length, "member"],
      [invalidResources, "resource"],
    ],
    invalidLines,
  );
  for (const { collection, imported } of results)
    print(`${counted(imported, "resource")} imported into ${collection}`);
  const imported = results.reduce((sum, result) => sum + result.imported, 0);
  print(
    `${counted(imported, "resource")} in ${counted(results.length, "collection")} ${describeEffort(effort)}`,
  );
}

/** Throws StartError, because a file has single objects and no lists. */
export function refuseObjects(objects: SkippedMembers["objects"], file: string): never {
  printErrors(
    objects.map(
      ({ line, name }) =>
        `line ${line}: ${JSON.stringify(name)} is a single object, not a list. ${asList(name)}`,
    ),
  );
  throw new StartError(`nothing was imported: ${file} contains no list of resources`);
}

function databaseRefusal(results: readonly ImportResult[], invalidMembers: number): StartError {
  const broken = results.find(({ isBroken }) => isBroken);
  if (broken !== undefined)
    return new StartError(`nothing was imported: the rest of ${broken.collection} cannot be read`);
  const shares = results
    .filter(({ invalid }) => invalid.count > 0)
    .map((result) => `${share(result)} in ${result.collection}`);
  const members = invalidMembers > 0 ? [counted(invalidMembers, "member")] : [];
  return new StartError(
    `nothing was imported. Invalid: ${[...members, ...shares].join(", ")}. ${correctInput}`,
  );
}

const correctInput = "Correct the input, or import the rest with --skip-invalid.";

function asList(name: string): string {
  return `To import it, declare the collection ${JSON.stringify(name)}, or put it in a list: ${JSON.stringify(name)}: [{ "id": "1", … }] becomes ${name}/1`;
}

function printIds({ imported, withoutId, unfitId, numberId, reusedId }: ImportResult, prefix = ""): void {
  const hasNoIds = withoutId.count > 1 && withoutId.count === imported;
  if (hasNoIds) print(`${prefix}the input has no ids, so each resource got a generated one`);
  const notes: [tally: Listed, text: string, describe?: (note: string) => string][] = [
    [withoutId, "had no id and got a generated one"],
    [unfitId, "had an id that does not fit the collection and got another one"],
    [numberId, "had a number as id, which is now a string", (id) => `${id} is now "${id}"`],
  ];
  if (reusedId !== undefined) notes.push([reusedId, "got the id of a resource that was deleted"]);
  for (const [tally, text, describe] of hasNoIds ? notes.slice(1) : notes)
    if (tally.count > 0)
      print(`${prefix}${counted(tally.count, "resource")} ${text}: ${locationsOf(tally, describe)}`);
}

function printSkipped(skipped: readonly [count: number, noun: string][], lines: readonly string[]): void {
  const texts = skipped.filter(([count]) => count > 0).map(([count, noun]) => counted(count, noun));
  if (texts.length === 0) return;
  say(`holdfast: skipped ${texts.join(" and ")}:`);
  printErrors(lines);
}

function describeEffort({ time, bytes }: Effort): string {
  const size = bytes === undefined ? "" : `; the store takes ${sized(bytes)} on disk`;
  return `in ${time}${size}`;
}

function share({ invalid, imported, merged }: ImportResult): string {
  const all = invalid.count + imported + (merged?.same ?? 0);
  return `${invalid.count.toLocaleString("en")} of ${counted(all, "resource")}`;
}

function printErrors(lines: readonly string[]): void {
  say(lines.map((line) => `  ${line}`));
}

function linesOf(invalid: Listed<readonly Violation[]>): string[] {
  const lines = invalid
    .first()
    .map(({ location, note }) => `${describeLocation(location)}: ${describeViolations(note)}`);
  const more = invalid.count - lines.length;
  return more > 0 ? [...lines, `and ${more.toLocaleString("en")} more`] : lines;
}

function locationsOf(tally: Listed, describe = (note: string) => note): string {
  const first = tally
    .first()
    .map(({ location, note }) => `${describeLocation(location)}${note === "" ? "" : ` (${describe(note)})`}`);
  return `${first.join(", ")}${tally.count > first.length ? ", …" : ""}`;
}

function describeLocation({ line, element }: InputLocation): string {
  return element === undefined ? `line ${line}` : `element ${element} on line ${line}`;
}
