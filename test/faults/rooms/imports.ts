/** Faults of imports. */
import type { Fault } from "../faults.ts";

const ofInputs = "test/import/input";
const ofTypes = "test/import/types";

export const importFaults: readonly Fault[] = [
  {
    name: "escapes-once",
    what: "Only the first quote behind a backslash in a CSV file is text.",
    noticedBy: "test/import/csv-quotes",
    test: "an escaped quote and an escaped backslash at an end",
    replacements: [["      this.#isEscaping = true;\n", ""]],
  },
  {
    name: "list-twice",
    what: "Of two lists with one name in an object, an import reads the first.",
    noticedBy: ofInputs,
    test: "is not all if the input goes on wrongly",
    replacements: [
      ["if (this.#isWanted) return `the member", "if (this.#isWanted && next === 0) return `the member"],
    ],
  },
  {
    name: "old-id-in-reference",
    what: "A reference keeps the old id of a resource that gets a new one.",
    noticedBy: "test/http/import-ids",
    test: "are rewritten before and after their resource, in the same collection and in others",
    replacements: [["if (ids !== undefined) renewReferences", "if (ids === undefined) renewReferences"]],
  },
  {
    name: "separator-is-no-line",
    what: "The lines of a report do not count the line that names the delimiter.",
    noticedBy: ofInputs,
    test: "is read before the header, and counts as a line",
    replacements: [["const line = separator === undefined ? 1 : 2;", "const line = 1;"]],
  },
  {
    name: "mark-in-input",
    what: "A byte order mark belongs to the input.",
    noticedBy: ofInputs,
    test: "may begin with a byte order mark, however its bytes arrive",
    replacements: [
      ["equals(byteOrderMark) ? start.subarray(length) : start", "equals(byteOrderMark) ? start : start"],
    ],
  },
  {
    name: "object-is-resource",
    what: "An object with a list of resources becomes one resource.",
    noticedBy: ofInputs,
    test: "that contains a list of objects is refused, with the place of the list",
    replacements: [["if (lists.length > 0) throw oneObject", "if (lists.length > 9) throw oneObject"]],
  },
  {
    name: "array-has-lines",
    what: "A body with one object on each line is imported as a JSON array.",
    noticedBy: ofInputs,
    test: "in place of an array is refused with the place of its list, also if it would be a resource",
    replacements: [['if (kind === "resources") requireForm(held, rules);', ""]],
  },
  {
    name: "tab-is-blank",
    what: "If tabs separate names in quotes, the message about a CSV file does not name the tab.",
    noticedBy: ofInputs,
    test: "with one column is refused if another delimiter is in it, and believed with a comma that was named",
    replacements: [["this.#blanks.includes(tab) ?", "this.#blanks.includes(0) ?"]],
  },
  {
    name: "quoted-null",
    what: "With convert=nulls, the text NULL in quotes is lost.",
    noticedBy: ofTypes,
    test: "of nulls leaves NULL without quotes out, whatever the attribute",
    replacements: [
      [
        "this.#nulls !== undefined && !isQuoted && isNullWord",
        "this.#nulls !== undefined && (isQuoted || true) && isNullWord",
      ],
    ],
  },
  {
    name: "zeros-are-lost",
    what: "With types=infer, a number loses the zeros at its beginning.",
    noticedBy: ofTypes,
    test: "texts, because of 00123",
    replacements: [["if (String(number) !== text || !", "if (text.trim() !== text || !"]],
  },
  {
    name: "quotes-say-nothing",
    what: "With types=infer, a text in quotes becomes a number beside numbers without quotes.",
    noticedBy: ofTypes,
    test: 'texts, because of "6"',
    replacements: [
      ["string: counts.string + inQuotes", "string: counts.string + (inQuotes > 1 ? inQuotes : 0)"],
    ],
  },
  {
    name: "thousands-are-fractions",
    what: "A conversion reads 1,234 as 1.234.",
    noticedBy: ofTypes,
    test: "refuses 1,234 for price",
    replacements: [["if (after.length === 3 &&", "if (after.length > 3 &&"]],
  },
  {
    name: "skipped-time",
    what: "A time that clocks skip becomes another time.",
    noticedBy: ofTypes,
    test: "of times without an offset needs their time zone, in which each must exist once",
    replacements: [
      [
        ".filter((instant) => localTime(zone, instant) === local)",
        ".filter((instant) => Number.isFinite(instant))",
      ],
    ],
  },
  {
    name: "types-beside-others",
    what: "With types=infer, an attribute can get numbers beside the texts of stored resources.",
    noticedBy: "test/http/import-columns",
    test: "a text beside numbers",
    replacements: [
      ["await this.#options.requireSameTypes?.(inferred);", "await this.#options.requireSameTypes?.([]);"],
    ],
  },
  {
    name: "dry-run-makes-store",
    what: "A dry run of the command makes a store.",
    noticedBy: "test/commands/import-types",
    test: "a dry run describes the columns and makes no store, and the import does what it says",
    replacements: [["if (!isDryRun || mayExist(config.store))", "if (isDryRun || mayExist(config.store))"]],
  },
];
