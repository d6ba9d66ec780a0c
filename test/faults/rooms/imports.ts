/** Faults of imports. */
import type { Fault } from "../faults.ts";

const ofInputs = "test/import/input";

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
];
