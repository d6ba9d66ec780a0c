import { StartError } from "../../errors.ts";
import { counted } from "../words.ts";
import type { ImportResult } from "./import.ts";
import type { Place } from "./input.ts";
import type { Tally } from "./tally.ts";

/** What the summary tells beside the result. */
export interface Circumstances {
  collection: string;
  seconds: number;
  /** Of the whole store. */
  bytes: number;
}

/** Says what an import did: the bad lines on stderr, the rest on stdout. Throws StartError when nothing was written. */
export function reportImport(result: ImportResult, { collection, seconds, bytes }: Circumstances): void {
  const { bad, imported, withoutId, unfitId } = result;
  if (!result.isWritten) {
    printLines(bad);
    throw new StartError(`nothing was imported: ${verdict(result)}`);
  }
  if (withoutId.count > 0)
    print(
      `${counted(withoutId.count, "resource")} came without an id and got a new one: ${places(withoutId)}`,
    );
  if (unfitId.count > 0)
    print(
      `${counted(unfitId.count, "resource")} came with an id that cannot be kept and got a new one: ${places(unfitId)}`,
    );
  if (bad.count > 0) {
    process.stderr.write(`holdfast: skipped ${counted(bad.count, "resource")}:\n`);
    printLines(bad);
  }
  print(
    `${counted(imported, "resource")} imported into ${collection} in ${seconds.toFixed(1)} s; ` +
      `the store takes ${(bytes / 1e6).toFixed(1)} MB on disk`,
  );
}

function verdict({ bad, imported, isBroken }: ImportResult): string {
  if (isBroken) return "the input is damaged";
  const what = `${bad.count.toLocaleString("en")} of ${counted(bad.count + imported, "resource")}`;
  return `${what} cannot be; --skip-invalid imports the others`;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function printLines(bad: Tally): void {
  const first = bad.first();
  for (const { place, what } of first) process.stderr.write(`  ${toText(place)}: ${what}\n`);
  if (bad.count > first.length)
    process.stderr.write(`  and ${(bad.count - first.length).toLocaleString("en")} more\n`);
}

function places(tally: Tally): string {
  const shown = tally
    .first()
    .map(({ place, what }) => (what === "" ? toText(place) : `${toText(place)} (${what})`));
  return `${shown.join(", ")}${tally.count > shown.length ? ", …" : ""}`;
}

function toText({ line, element }: Place): string {
  return element === undefined ? `line ${line}` : `element ${element} in line ${line}`;
}
