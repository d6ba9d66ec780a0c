/** Faults of `store`: those of all stores, and those of SQLite. */
import type { Fault } from "../faults.ts";

export const storeFaults: readonly Fault[] = [
  {
    name: "search-without-signs",
    what: "On SQLite, the signs of a search are ignored, so `C++` finds all resources with the word `c`.",
    noticedBy: "test/http/lists-search",
    test: "finds words with their signs, page by page and as figures",
    replacements: [["...(readsTexts ? [literalsSql(terms, scope)] : []),", ""]],
  },
  {
    name: "search-without-signs-on-postgres",
    what: "On PostgreSQL, the signs of a search are ignored, so `C++` finds all resources with the word `c`.",
    noticedBy: "test/http/lists-search",
    test: "finds words with their signs, page by page and as figures",
    store: "postgres",
    replacements: [
      ["where: readsTexts ? [`(case when hits_0.times > 0", "where: false ? [`(case when hits_0.times > 0"],
    ],
  },
  {
    name: "search-total-without-signs",
    what: "On SQLite, the total of a search counts resources that have the words, but not their signs.",
    noticedBy: "test/http/lists-search",
    test: "finds words with their signs, page by page and as figures",
    replacements: [["filter === undefined && !search.readsTexts", "filter === undefined"]],
  },
  {
    name: "nulls-not-moved",
    what: "A list with an index is in another order than the same list without one: its nulls are not moved.",
    noticedBy: "test/http/lists-nulls",
    test: "is ca/eb/d for indexed?sort=qty:nullslast, by cursor and by offset",
    replacements: [
      ["if (value === null && movesNulls === true) buffer[at] = typeBytes.movedNull;", "void movesNulls;"],
    ],
  },
  {
    name: "nulls-lost-at-cursor",
    what: "The page after a null value is wrong if nulls were moved.",
    noticedBy: "test/http/lists-nulls",
    test: "is ca/eb/d for plain?sort=qty:nullslast, by cursor and by offset",
    replacements: [['ranked === "null" && key.movesNulls === true ? "movedNull" : ranked', "ranked"]],
  },
  {
    name: "search-for-nothing",
    what: "A search without a letter and a digit finds all resources.",
    noticedBy: "test/http/lists-search",
    test: "that has no letter and no digit finds nothing, in every form of the list",
    replacements: [["if (terms?.length === 0) return", "if (terms?.length === -1) return"]],
  },
  {
    name: "index-unwatched",
    what: "A service does not notice that the index of its log was removed.",
    noticedBy: "test/store/removed-files",
    test: "a store stops whose file x.db-shm is removed under it",
    replacements: [['["", "-wal", "-shm"] as const', '["", "-wal"] as const']],
  },
  {
    name: "unlogged-without-mark",
    what: "A write without history does not mark the change log, so a healthy store looks damaged.",
    noticedBy: "test/store/damage",
    test: "a log without its old changes, or those of a time without history, is not damaged",
    replacements: [["if (!isLogged) head.unloggedUpTo = head.gapsUpTo = head.sequence;", ""]],
  },
  {
    name: "trim-without-mark",
    what: "The removal of old changes is not noted, so a healthy store looks damaged.",
    noticedBy: "test/store/damage",
    test: "a log without its old changes, or those of a time without history, is not damaged",
    replacements: [["yield* this.#sql.noteTrimmed(number, upTo);", ""]],
  },
  {
    name: "lost-end-unnoticed",
    what: "The walk does not notice that the last changes of a log are missing.",
    noticedBy: "test/store/damage",
    test: "the walk finds a log that lacks its last changes, also after another start",
    replacements: [["return Math.max(last, lackingUpTo(gaps)) < sequence;", "return false;"]],
  },
  {
    name: "own-id-starts-again",
    what: "A create with a deleted id starts at version 1 if the id was erased, so an old ETag matches it.",
    noticedBy: "test/store/sqlite",
    test: "a chosen id starts at version 1 only if no resource ever had it, and otherwise above its last version",
    replacements: [
      ["this.#logOf(number).lastDeleted(id, erasedName(id));", "this.#logOf(number).lastDeleted(id, id);"],
    ],
  },
  {
    name: "own-id-not-compared",
    what: "A create with a chosen id is written although the id has another last version by now.",
    noticedBy: "test/store/sqlite",
    test: "a chosen id starts at version 1 only if no resource ever had it, and otherwise above its last version",
    replacements: [["version === last ? undefined", "version >= 0 ? undefined"]],
  },
  {
    name: "lock-without-mark",
    what: "A lock file does not show that there was a store.",
    noticedBy: "test/durability/moved-file",
    test: "no new store starts in the place of one that was stopped and then moved away, until its lock file is removed",
    replacements: [["  lock?.noteStore();\n", ""]],
  },
  {
    name: "format-not-compared",
    what: "A store of an older format is used.",
    noticedBy: "test/store/formats",
    test: "of an older format is refused with both numbers and advice, and stays as it is",
    replacements: [["if (format === own) return;", "if (format <= own) return;"]],
  },
  {
    name: "writer-moves-all",
    what: "A write moves everything that has waited for a long reader from the log into the file.",
    noticedBy: "test/store/writer-pages",
    test: "a write does not move the pages into the file that have waited for a long reader",
    replacements: [["waitedBefore > mostWriterPages", "waitedBefore > 1_000 * mostWriterPages"]],
  },
  {
    name: "batch-weight",
    what: "A call that fails keeps its weight in the queue of the store, so the queue fills up.",
    noticedBy: "test/store/batch",
    test: "calls that fail give their weight back, also while others wait",
    replacements: [
      [
        `this.#weight -= weight;
    this.#underWay -= weight;
    if (outcome === undefined)`,
        `this.#underWay -= weight;
    if (outcome === undefined)`,
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
    test: "of another caller wait for at most two short attempts, however many one caller has",
    replacements: [
      ["    this.#lines.delete(caller);\n    if (line !== undefined)", "    if (line !== undefined)"],
    ],
  },
  {
    name: "erased-version-again",
    what: "An import with the id of an erased resource starts at version 1 again.",
    noticedBy: "test/copy/copy",
    test: "a copy from sqlite to sqlite answers as its source does, and goes on as it does (HOLDFAST_TEST_SEED=1)",
    replacements: [
      ["Math.max(versions.get(id) ?? 0, versions.get(erasedName(id)) ?? 0);", "versions.get(id) ?? 0;"],
    ],
  },
  {
    name: "queue-expired-task",
    what: "A task that has waited too long for its key stays in the queue, so the key is never free again.",
    noticedBy: "test/store/keyed-queue",
    test: "a task whose turn does not come in time is refused with UNAVAILABLE and never runs",
    replacements: [["waiting.remove(own);\n        tasks--;", "tasks--;"]],
  },
  {
    name: "large-commits-in-line",
    what: "The large commits of one caller come before those of another one that came later.",
    noticedBy: "test/store/sqlite",
    test: "large commits of one caller do not keep another one from its turn",
    replacements: [
      [
        "turns: { callerOf, namesOf: () => [], maxUnderWay: Number.POSITIVE_INFINITY }",
        'turns: { callerOf: () => "", namesOf: () => [], maxUnderWay: Number.POSITIVE_INFINITY }',
      ],
    ],
  },
  {
    name: "continued-commits-overtake",
    what: "A commit that continues another one is written before it if its caller has the next turn.",
    noticedBy: "test/store/sqlite",
    test: "commits that continue each other are written in their order, whoever sends them",
    replacements: [
      ["turns: { callerOf, namesOf, maxUnderWay", "turns: { callerOf, namesOf: () => [], maxUnderWay"],
    ],
  },
  {
    name: "large-commit-while-held",
    what: "A large commit that was put aside is written while another thread holds the writer.",
    noticedBy: "test/store/writer-turns",
    test: "a large commit that was put aside waits while another thread holds the writer",
    replacements: [["if (this.#connections.isHeldFor(large.from)) this", "if (false as boolean) this"]],
  },
  {
    name: "cleared-not-compared",
    what: "A delete that clears references makes two resources have the same unique value.",
    noticedBy: "test/http/unique-combinations",
    test: "when a delete clears a reference",
    replacements: [
      ["else if (from.unique.some(({ where }) => where !== undefined))", "else if (from.number < 0)"],
    ],
  },
  {
    name: "refused-commit-stays",
    what: "The changes of a refused commit are not taken back, so a group of commits writes them.",
    noticedBy: "test/http/unique",
    test: "POST, PUT and PATCH with a value that another resource has are 409 with its pointer",
    store: "postgres",
    replacements: [
      ["staged.takeBack(before);\n      const { change } = refusal;", "const { change } = refusal;"],
    ],
  },
  {
    name: "step-refuses-alone",
    what: "If an earlier step of a commit is refused, only its own changes are taken back.",
    noticedBy: "test/store/postgres-slice",
    test: "a commit whose step or whose changes are refused writes nothing",
    replacements: [
      [
        "staged.takeBack(before);\n      const { change } = refusal;",
        "staged.takeBack(first);\n      const { change } = refusal;",
      ],
    ],
  },
  {
    name: "copy-resumes-changed-source",
    what: "An interrupted copy continues although the source has changed since it started.",
    noticedBy: "test/copy/changed-source",
    test: "a source in sqlite that has changed since the copy was begun is not copied on",
    replacements: [["requireUnchanged(progress.checkpoint.source, checksum);", ""]],
  },
  {
    name: "difference-from-wrong-text",
    what: "A difference is applied to the current text although changes between the two are missing.",
    noticedBy: "test/store/history",
    test: "a version is not found if change 5 of 5 is missing, as after a time without a history",
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
    test: "a version is not found if change 4 of 5 is missing, as after a time without a history",
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
    noticedBy: "test/http/history-pages",
    test: "are listed newest first, in pages that links lead through",
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
    test: "a plan does the same on a store that responds later, which gets statements together",
    replacements: [["from += own.length;", ""]],
  },
  {
    name: "chain-without-end",
    what: "The change log never keeps a whole text of a resource that changes often, so a read of an old version finds too few differences.",
    noticedBy: "test/store/superseded",
    test: "a text is kept whole where it is short, deleted, in its turn, or nothing like the next one",
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
    test: "removes a change that alone is more than what is kept, and keeps later ones",
    replacements: [["row.sequence <= excess ||", "row.sequence <= excess + 1 ||"]],
  },
  {
    name: "cursor-skips-null",
    what: "SQLite: a cursor at a resource that has null in the sort attribute skips all other resources with null.",
    noticedBy: "test/http/paging",
    test: "a walk sorted by an attribute that has no value in many resources sees each resource once",
    replacements: [["each === null ? undefined : bind(", "bind("]],
  },
  {
    name: "key-not-inverted",
    what: "The key of an entry has a descending text in ascending order.",
    noticedBy: "test/store/order-keys",
    test: "keys have the order of their resources",
    replacements: [["    if (key.descending) invert(from, length);\n", ""]],
  },
  {
    name: "range-with-its-position",
    what: "A page with an index begins with the resource of its cursor.",
    noticedBy: "test/store/index-pages",
    test: "pages with an index follow each other, without gap and without repetition",
    replacements: [["low = greatest(low, position);", "low = greatest(low, position.subarray(0, -1));"]],
  },
  {
    name: "entry-stays",
    what: "SQLite: an update leaves the old entry of the resource, so lists with an index have it twice.",
    noticedBy: "test/store/index-pages",
    test: "an update moves the entry of a resource, a delete removes it, and a rolled back load leaves none",
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
    test: "of an erased resource no answer is left in the file, and other answers stay",
    replacements: [["yield* receipts.erase(id);", ""]],
  },
  {
    name: "receipts-uncounted",
    what: "Stored responses are not counted, so there can be more of them than the limit.",
    noticedBy: "test/store/receipts",
    test: "where as many keys are kept as may be, no other is taken until some expire",
    replacements: [['["receipts", receipts] as const', '["receipts", 0] as const']],
  },
  {
    name: "erase-without-mark",
    what: "SQLite: an erase that is killed before it rewrites the file is not finished later.",
    noticedBy: "test/commands/erase-killed",
    test: "an erase that is killed while it rewrites the file leaves nothing after the next one",
    replacements: [["noteErasure(database, name);", ""]],
  },
  {
    name: "seal-without-check",
    what: "SQLite: a backup that has changed since it was made is accepted.",
    noticedBy: "test/commands/changed-backup",
    test: "every command refuses a changed backup",
    replacements: [
      ["if (expected === (await checksumOf(database))) return;", "if (expected !== null) return;"],
    ],
  },
  {
    name: "no-flush-at-start",
    what: "SQLite: the start does not flush what a killed process left in the log.",
    noticedBy: "test/durability/flush-at-start",
    test: "a start flushes the log of a killed process before it serves what is in it",
    replacements: [['flush(log, "r+");', ""]],
  },
  {
    name: "index-used-too-early",
    what: "A list uses an index that is still being built, so it lacks resources.",
    noticedBy: "test/store/building",
    test: "of 20,000 resources is not there after its declaration, and its lists become quick later",
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
    noticedBy: "test/store/build-steps",
    test: "has what is written while it is built, before and after the place that is built",
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
    noticedBy: "test/store/build-steps",
    test: "of large resources is built in steps of few resources",
    replacements: [["to: rows.length < most ?", "to: rows.length < slice.resources ?"]],
  },
  {
    name: "search-boundary",
    what: "SQLite: while search words are gathered, a change of the last resource that is built does not reach them.",
    noticedBy: "test/store/search",
    test: "resources that change while words are gathered are found by their new words",
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
    test: "a dry run writes nothing, and a commit after it is as if it had not been",
    replacements: [["  if (commit.isDryRun) {\n    staged.takeBack(before);", "  if (commit.isDryRun) {"]],
  },
  {
    name: "write-during-import",
    what: "A write does not wait for an import in progress.",
    noticedBy: "test/store/sqlite",
    test: "other writes wait for a load, whether it finishes or is cancelled",
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
    test: "a rewind to any moment brings back the state of that moment",
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
    test: "never cuts a commit in two, although its changes are on both sides of a clock that was set back",
    replacements: [["if (last < 0) continue;", "if (last >= -1) continue;"]],
  },
  {
    name: "rewind-overtakes",
    what: "A rewind is committed although a collection has changed since it was read.",
    noticedBy: "test/store/sqlite-rewind",
    test: "is refused if one of them has changed in the meantime, even one without changes in the commit",
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
    test: "no read returns a resource whose text has changed, and each error names it",
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
    test: "a resource with another version is damaged",
    replacements: [["mixNumber(mixNumber(head, version), updatedAt)", "mixNumber(head, updatedAt)"]],
  },
  {
    name: "kept-without-checksum",
    what: "The superseded text of a change is not compared with its checksum.",
    noticedBy: "test/store/history",
    test: "a version whose stored difference is damaged is an error that names it, and others are read",
    replacements: [
      ['if (!("superseded" in row)) return true;', "if (row.checksum !== undefined) return true;"],
    ],
  },
  {
    name: "walk-without-count",
    what: "The walk does not notice that resources are missing.",
    noticedBy: "test/store/damage",
    test: "a walk while others write counts only what was there before, and finds what is missing",
    replacements: [["if (missing > 0) return", "if (missing > 1_000) return"]],
  },
  {
    name: "walk-without-surplus",
    what: "The walk does not notice index entries that match no resource.",
    noticedBy: "test/store/damage",
    test: "the walk finds references, index entries and words that do not match the resources, and no others",
    replacements: [
      [
        "if (isIntact && entryOf(JSON.parse(text), place)?.key",
        "if (isIntact && row.version === 0 && entryOf(JSON.parse(text), place)?.key",
      ],
    ],
  },
  {
    name: "walk-without-references",
    what: "The walk does not notice that a resource lacks a row in the table of references.",
    noticedBy: "test/store/damage",
    test: "the walk finds references, index entries and words that do not match the resources, and no others",
    replacements: [
      [
        "!isDeepStrictEqual(namesOf(wanted.get(of)), namesOf(stored.get(of)))",
        "!namesOf(wanted.get(of)).isSupersetOf(namesOf(stored.get(of)))",
      ],
    ],
  },
  {
    name: "deleted-though-restored",
    what: "The list of deleted resources has those that exist again.",
    noticedBy: "test/http/deleted",
    test: "has what is deleted now, as it was, the latest delete first",
    replacements: [["later.version > made)", "later.version > made + 1)"]],
  },
  {
    name: "wide-integer-ends-check",
    what: "An integer that no JavaScript number holds ends a check, instead of a message that names its row.",
    noticedBy: "test/store/damaged-numbers",
    test: "a check names the table and the column of each integer that no number holds, and goes on",
    replacements: [["if (!isTooWide(error)) throw error;", 'if (statement.sourceSQL !== "") throw error;']],
  },
  {
    name: "walk-trusts-last-id",
    what: "The walk does not notice that the last id is below one that was given.",
    noticedBy: "test/store/damaged-tables",
    test: "a check of a store on sqlite names each row that does not match the others, and no other",
    replacements: [["if (lastId < seen)", "if (lastId < 0)"]],
  },
  {
    name: "walk-trusts-secret",
    what: "A part of the secret that has changed is used, and positions that clients have become invalid.",
    noticedBy: "test/store/damaged-tables",
    test: "a check of a store on sqlite names each row that does not match the others, and no other",
    replacements: [
      ["(numbers.get(checksumName) ?? checksumOf(parts)) === checksumOf(parts)", "checksumOf(parts) >= 0"],
    ],
  },
  {
    name: "walk-counts-changed",
    what: "The walk counts a resource that was deleted behind its place, and reports a sound store.",
    noticedBy: "test/store/damage",
    test: "a walk while others write counts only what was there before, and finds what is missing",
    replacements: [["if (isCounted(change)) this.#found--;", ""]],
  },
  {
    name: "head-without-checksums",
    what: "The head of a collection does not follow the checksums of its resources.",
    noticedBy: "test/store/damage",
    test: "the walk finds references, index entries and words that do not match the resources, and no others",
    replacements: [
      ["counters.checksums += (next?.checksum ?? 0)", "counters.checksums = (next?.checksum ?? 0)"],
    ],
  },
];
