/** Faults of `changes`, and of what the feed needs of other rooms. */
import type { Fault } from "../faults.ts";

export const changesFaults: readonly Fault[] = [
  {
    name: "monitor-after-snapshot",
    what: "The position in the monitor link of a list is read after the page, so a change between the two is missed.",
    noticedBy: "test/changes/feed-property.test.ts",
    replacements: [
      [
        "const mark = feed.log.markAt(collection.name, page.sequence);",
        "const mark = feed.log.now([collection.name]).then((marks) => marks[0] as Mark);",
      ],
    ],
  },
  {
    name: "filter-forgets-before",
    what: "A filter of the feed does not look at the text before a change, so a resource that enters the view is not created.",
    noticedBy: "test/changes/feed-property.test.ts",
    replacements: [
      [
        'const wasSeen = change.superseded !== undefined && isSeen(view, parsed(change, "superseded"));',
        "const wasSeen = change.superseded !== undefined;",
      ],
    ],
  },
  {
    name: "page-splits-commit",
    what: "A page of the feed ends between two changes of one commit.",
    noticedBy: "test/changes/feed-property.test.ts",
    replacements: [
      [
        "const isWithin = change.group !== undefined && changes[index + 1]?.group === change.group;",
        "const isWithin: boolean = false;",
      ],
    ],
  },
  {
    name: "postgres-head-unlocked",
    what: "PostgreSQL: a commit does not hold the lock of the head until its end, so a later sequence can be committed first.",
    noticedBy: "test/postgres/feed-order.test.ts",
    replacements: [
      [
        "transaction.run(raiseHead(number, { sequence: changes.length,",
        '(parts as unknown as { connections: Pick<Transaction, "run"> }).connections.run(raiseHead(number, { sequence: changes.length,',
      ],
    ],
  },
  {
    name: "erase-without-note",
    what: "SQLite: an erase does not note the gap in the change log, so since=start is gone again and again.",
    noticedBy: "test/store/sqlite.test.ts",
    replacements: [["log.noteGaps(number, head.sequence);", ""]],
  },
  {
    name: "stream-keeps-rights",
    what: "A stream of events is judged once, so it goes on after the key was revoked.",
    noticedBy: "test/http/event-views.test.ts",
    replacements: [
      [
        "performance.now() - this.#judgedAt > judgedMs;",
        "performance.now() - this.#judgedAt > judgedMs * 1e9;",
      ],
    ],
  },
];
