/** Faults of `store`: those of all stores, and those of SQLite. */
import type { Fault } from "../faults.ts";

export const storeFaults: readonly Fault[] = [
  {
    name: "index-unwatched",
    what: "A service does not notice that the index of its log was removed.",
    noticedBy: "test/store/sqlite-files",
    replacements: [['["", "-wal", "-shm"] as const', '["", "-wal"] as const']],
  },
  {
    name: "own-id-starts-again",
    what: "A create with a deleted id starts at version 1 if the id was erased, so an old ETag matches it.",
    noticedBy: "test/store/sqlite",
    replacements: [
      [
        "return this.#logOf(number).lastDeleted(id, erasedName(id));",
        "return this.#logOf(number).lastDeleted(id, id);",
      ],
    ],
  },
  {
    name: "own-id-not-compared",
    what: "A create with a chosen id is written although the id has another last version by now.",
    noticedBy: "test/store/sqlite",
    replacements: [["version === last ? undefined", "version >= 0 ? undefined"]],
  },
  {
    name: "lock-without-mark",
    what: "A lock file does not show that there was a store.",
    noticedBy: "test/durability/moved-file",
    replacements: [["  lock?.noteStore();\n", ""]],
  },
  {
    name: "format-not-compared",
    what: "A store of an older format is used.",
    noticedBy: "test/store/formats",
    replacements: [["if (format === own) return;", "if (format <= own) return;"]],
  },
  {
    name: "writer-moves-all",
    what: "A write moves everything that has waited for a long reader from the log into the file.",
    noticedBy: "test/store/writer",
    replacements: [["waitedBefore > mostWriterPages", "waitedBefore > 1_000 * mostWriterPages"]],
  },
  {
    name: "batch-weight",
    what: "A call that fails keeps its weight in the queue of the store, so the queue fills up.",
    noticedBy: "test/store/batch",
    replacements: [
      [
        `this.#weight -= weight;
    if (outcome === undefined)`,
        "if (outcome === undefined)",
      ],
      [
        "else resolve(outcome.answer);",
        `else {
      this.#weight -= weight;
      resolve(outcome.answer);
    }`,
      ],
    ],
  },
  {
    name: "slow-reads-one-line",
    what: "All slow lists of one caller come before those of another one that came later.",
    noticedBy: "test/store/slow-reads",
    replacements: [
      ["    this.#lines.delete(caller);\n    this.#put(caller, others);", "    this.#put(caller, others);"],
    ],
  },
  {
    name: "erased-version-again",
    what: "An import with the id of an erased resource starts at version 1 again.",
    noticedBy: "test/copy/copy",
    replacements: [
      ["Math.max(versions.get(id) ?? 0, versions.get(erasedName(id)) ?? 0);", "versions.get(id) ?? 0;"],
    ],
  },
  {
    name: "queue-expired-task",
    what: "A task that has waited too long for its key stays in the queue, so the key is never free again.",
    noticedBy: "test/store/keyed-queue",
    replacements: [["waiting.delete(start);\n        tasks--;", "tasks--;"]],
  },
  {
    name: "cleared-not-compared",
    what: "A delete that clears references makes two resources have the same unique value.",
    noticedBy: "test/http/unique-combinations",
    replacements: [
      ["else if (from.unique.some(({ where }) => where !== undefined))", "else if (from.number < 0)"],
    ],
  },
  {
    name: "refused-commit-stays",
    what: "The changes of a refused commit are not taken back, so a group of commits writes them.",
    noticedBy: "test/http/unique",
    store: "postgres",
    replacements: [["staged.takeBack(before);\n      return { refusal };", "return { refusal };"]],
  },
  {
    name: "copy-resumes-changed-source",
    what: "An interrupted copy continues although the source has changed since it started.",
    noticedBy: "test/copy/refused",
    replacements: [["requireUnchanged(progress.checkpoint.source, checksum);", ""]],
  },
  {
    name: "difference-from-wrong-text",
    what: "A difference is applied to the current text although changes between the two are missing.",
    noticedBy: "test/store/history",
    replacements: [
      [
        "let next = current?.version === last.version ? current.text : undefined;",
        "let next = current?.text;",
      ],
    ],
  },
  {
    name: "difference-from-later-text",
    what: "The change feed applies a difference to a text of the same resource although a change between the two is missing.",
    noticedBy: "test/store/history",
    replacements: [
      [
        "later?.version === version ? later.text : yield* this.#textAfter(row, current.get(id));",
        "later !== undefined ? later.text : yield* this.#textAfter(row, current.get(id));",
      ],
    ],
  },
  {
    name: "parameters-swapped",
    what: "A page of the history takes its limit for the version that it begins with, and the other way round.",
    noticedBy: "test/http/history",
    replacements: [
      [
        "where id = $1::text and version < $2::bigint order by version desc limit $3::bigint",
        "where id = $1::text and version < $3::bigint order by version desc limit $2::bigint",
      ],
    ],
  },
  {
    name: "together-mixed-up",
    what: "Plans that run together get the results of each other.",
    noticedBy: "test/store/plans",
    replacements: [["from += own.length;", ""]],
  },
  {
    name: "chain-without-end",
    what: "The change log never keeps a whole text of a resource that changes often, so a read of an old version finds too few differences.",
    noticedBy: "test/store/superseded",
    replacements: [
      [
        "if (next === undefined || version % maxChain === 0) return text;",
        "if (next === undefined) return text;",
      ],
    ],
  },
  {
    name: "keep-bytes-one-more",
    what: "Of a change log that is larger than keepBytes, one change too many is removed.",
    noticedBy: "test/store/retention",
    replacements: [["row.sequence <= excess ||", "row.sequence <= excess + 1 ||"]],
  },
  {
    name: "cursor-skips-null",
    what: "SQLite: a cursor at a resource that has null in the sort attribute skips all other resources with null.",
    noticedBy: "test/http/paging",
    replacements: [["each === null ? undefined : bind(", "bind("]],
  },
  {
    name: "key-not-inverted",
    what: "The key of an entry has a descending text in ascending order.",
    noticedBy: "test/store/order-keys",
    replacements: [["    if (descending) invert(from, length);\n", ""]],
  },
  {
    name: "range-with-its-position",
    what: "A page with an index begins with the resource of its cursor.",
    noticedBy: "test/store/indexes",
    replacements: [["low = greatest(low, position);", "low = greatest(low, position.subarray(0, -1));"]],
  },
  {
    name: "entry-stays",
    what: "SQLite: an update leaves the old entry of the resource, so lists with an index have it twice.",
    noticedBy: "test/store/indexes",
    replacements: [
      [
        "if (old !== undefined) removed.push(old);",
        "if (now === undefined && old !== undefined) removed.push(old);",
      ],
    ],
  },
  {
    name: "erase-keeps-responses",
    what: "holdfast erase leaves the stored responses that contain the resource.",
    noticedBy: "test/store/receipts",
    replacements: [["yield* receipts.erase(id);", ""]],
  },
  {
    name: "receipts-uncounted",
    what: "Stored responses are not counted, so there can be more of them than the limit.",
    noticedBy: "test/store/receipts",
    replacements: [['["receipts", receipts] as const', '["receipts", 0] as const']],
  },
  {
    name: "erase-without-mark",
    what: "SQLite: an erase that is killed before it rewrites the file is not finished later.",
    noticedBy: "test/commands/erase",
    replacements: [["noteErasure(database, name);", ""]],
  },
  {
    name: "seal-without-check",
    what: "SQLite: a backup that has changed since it was made is accepted.",
    noticedBy: "test/commands/backup",
    replacements: [
      ["if (expected === (await checksumOf(database))) return;", "if (expected !== null) return;"],
    ],
  },
  {
    name: "no-flush-at-start",
    what: "SQLite: the start does not flush what a killed process left in the log.",
    noticedBy: "test/durability/fsync",
    replacements: [['flush(log, "r+");', ""]],
  },
  {
    name: "index-used-too-early",
    what: "A list uses an index that is still being built, so it lacks resources.",
    noticedBy: "test/store/building",
    replacements: [
      [
        "const slots = all.filter(({ slot }) => building?.slots.includes(slot) !== true);",
        "const slots = all.filter(({ slot }) => building?.slots.includes(slot) !== true || slot > 0);",
      ],
    ],
  },
  {
    name: "written-beside-build",
    what: "SQLite: a write does not keep the entries of an index that is being built.",
    noticedBy: "test/store/building",
    replacements: [
      [
        "const places = this.#suspended.has(number) ? uniqueSlots : collection.places;",
        "const places = this.#suspended.has(number) ? uniqueSlots : [...collection.slots, ...uniqueSlots];",
      ],
    ],
  },
  {
    name: "build-ends-too-early",
    what: "A step that stops at its limit of bytes is taken for the last one, so the index lacks the other resources.",
    noticedBy: "test/store/building",
    replacements: [["to: rows.length < most ?", "to: rows.length < slice.resources ?"]],
  },
  {
    name: "search-boundary",
    what: "SQLite: while search words are gathered, a change of the last resource that is built does not reach them.",
    noticedBy: "test/store/search",
    replacements: [
      [
        "if (builtTo !== undefined && key > builtTo) return;",
        "if (builtTo !== undefined && key >= builtTo) return;",
      ],
    ],
  },
  {
    name: "dry-run-stays-staged",
    what: "The changes of a dry run stay staged, so they are written.",
    noticedBy: "test/store/sqlite",
    replacements: [["  if (commit.isDryRun) {\n    staged.takeBack(before);", "  if (commit.isDryRun) {"]],
  },
  {
    name: "write-during-import",
    what: "A write does not wait for an import in progress.",
    noticedBy: "test/store/sqlite",
    replacements: [
      [
        "while (this.#loads.isInProgress) await this.#loads.untilNone();\n    this.#health.requireWorking();",
        "this.#health.requireWorking();",
      ],
    ],
  },
  {
    name: "rewind-one-more",
    what: "A rewind also undoes the last change before its time.",
    noticedBy: "test/store/sqlite-rewind",
    replacements: [
      [
        "readRows(history, sequences, (row) => after.push(row))",
        "readRows(history, { past: Math.max(0, past - 1), current }, (row) => after.push(row))",
      ],
    ],
  },
  {
    name: "rewind-cuts-commits",
    what: "A rewind undoes a part of a commit, if the clock was set back.",
    noticedBy: "test/store/sqlite-rewind",
    replacements: [["if (last < 0) continue;", "if (last >= -1) continue;"]],
  },
  {
    name: "rewind-overtakes",
    what: "A rewind is committed although a collection has changed since it was read.",
    noticedBy: "test/store/sqlite-rewind",
    replacements: [
      [
        "if (sequenceOf(collection) + staged.countOf(collection) !== sequence)",
        "if (sequenceOf(collection) + staged.countOf(collection) < sequence)",
      ],
    ],
  },
  {
    name: "list-without-checksums",
    what: "A list returns resources whose checksums are wrong.",
    noticedBy: "test/store/damage",
    replacements: [
      [
        "items.push(toStored(collection, row));",
        "items.push({ id: String(row[0]), version: Number(row[1]), text: String(row[3]), updatedAt: Number(row[2]) });",
      ],
    ],
  },
  {
    name: "checksum-without-version",
    what: "The checksum of a resource does not cover its version.",
    noticedBy: "test/store/damage",
    replacements: [["mixNumber(mixNumber(head, version), updatedAt)", "mixNumber(head, updatedAt)"]],
  },
  {
    name: "kept-without-checksum",
    what: "The superseded text of a change is not compared with its checksum.",
    noticedBy: "test/store/history",
    replacements: [
      ['if (!("superseded" in row)) return true;', "if (row.checksum !== undefined) return true;"],
    ],
  },
  {
    name: "walk-without-count",
    what: "The walk does not notice that resources are missing.",
    noticedBy: "test/store/damage",
    replacements: [["if (missing > 0) return", "if (missing > 1_000) return"]],
  },
  {
    name: "walk-without-surplus",
    what: "The walk does not notice index entries that match no resource.",
    noticedBy: "test/store/damage",
    replacements: [
      ["if (row.id === null || (isIntact &&", "if (row.id === 0 || (isIntact && row.version === 0 &&"],
    ],
  },
  {
    name: "walk-without-references",
    what: "The walk does not notice that a resource lacks a row in the table of references.",
    noticedBy: "test/store/damage",
    replacements: [
      [
        "return !isDeepStrictEqual(namesOf(wanted), namesOf(stored));",
        "return !namesOf(wanted).isSupersetOf(namesOf(stored));",
      ],
    ],
  },
  {
    name: "deleted-though-restored",
    what: "The list of deleted resources has those that exist again.",
    noticedBy: "test/http/deleted",
    replacements: [["later.version > made)", "later.version > made + 1)"]],
  },
  {
    name: "walk-counts-changed",
    what: "The walk counts a resource that was deleted behind its place, and reports a sound store.",
    noticedBy: "test/store/damage",
    replacements: [["if (isCounted(change)) this.#found--;", ""]],
  },
  {
    name: "head-without-checksums",
    what: "The head of a collection does not follow the checksums of its resources.",
    noticedBy: "test/store/damage",
    replacements: [
      ["counters.checksums += (next?.checksum ?? 0)", "counters.checksums = (next?.checksum ?? 0)"],
    ],
  },
];
