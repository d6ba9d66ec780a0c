/** What a client asks of the text of CSV: the parameters `bom` and `delimiter` of lists. `holdfast export` has them as options. */

import { readWord } from "./reading.ts";
import type { Location, Violations } from "./violations.ts";

/** The delimiters of the CSV that the service writes, by their names in requests. */
export const delimiters = { ",": ",", ";": ";", "|": "|", tab: "\t" } as const;

/** The name of a delimiter. */
export type DelimiterName = keyof typeof delimiters;

/** The names of the delimiters. */
export const delimiterNames = Object.keys(delimiters) as readonly DelimiterName[];

/** The parameters. A member is `undefined` if the client did not send it, or sent its default: pages that try requests do that. */
export interface TableForm {
  /** Whether the text begins with a byte order mark. @default false */
  bom: boolean | undefined;
  /** The character between two cells. @default "," */
  delimiter: DelimiterName | undefined;
}

const usualDelimiter = ",";

/** Reads the parameters. `truths`: true and false, as the syntax of the request writes them. Adds violations. */
export function readTableForm<Truth extends string | boolean>(
  { bom, delimiter }: { bom: unknown; delimiter: unknown },
  truths: readonly [yes: Truth, no: Truth],
  locationOf: (name: string) => Location,
  violations: Violations,
): TableForm {
  const truth = readWord(bom, locationOf("bom"), { words: truths, violations });
  const name = delimiterNames.find((each) => each === delimiter);
  if (delimiter !== undefined && name === undefined)
    violations.mustBe(locationOf("delimiter"), "delimiter", '",", ";", "|" or tab', delimiter);
  return {
    bom: truth === truths[0] ? true : undefined,
    delimiter: name === usualDelimiter ? undefined : name,
  };
}
