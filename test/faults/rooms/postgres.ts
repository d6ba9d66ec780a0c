/** Faults of `store` that only PostgreSQL has. */
import type { Fault } from "../faults.ts";

export const postgresFaults: readonly Fault[] = [
  {
    name: "postgres-client-without-listener",
    what: "PostgreSQL: a connection that ends as soon as it is ready ends the service.",
    noticedBy: "test/postgres/ended-connections",
    test: "connections that an administrator ends as soon as they are ready cost answers, not the service",
    replacements: [
      [
        "this.lost ??= error; // the waiting",
        'if (this.listenerCount("error") === 1) throw error; // the waiting',
      ],
    ],
  },
  {
    name: "postgres-statement-not-cancelled",
    what: "PostgreSQL: a list whose client has gone away is read on in the database.",
    noticedBy: "test/postgres/gone-clients",
    test: "a client that goes away while its list is read ends the statement in the database too",
    replacements: [["socket.end(message);", "socket.end();"]],
  },
  {
    name: "postgres-worker-alone",
    what: "PostgreSQL: a first start through a worker node of a Citus cluster makes a store that the other nodes do not know.",
    noticedBy: "test/postgres/cluster-worker",
    test: "a start is refused where no store is in a distributed schema",
    replacements: [
      ['nodes[0]?.[0] === "t" && rows.every(', 'nodes[0]?.[0] === "t" && rows.length > 0 && rows.every('],
    ],
  },
  {
    name: "postgres-nodes-not-asked",
    what: "PostgreSQL: only the coordinator of a Citus cluster is asked whether it can lose confirmed writes.",
    noticedBy: "test/postgres/cluster",
    test: "a node of a Citus cluster that can lose confirmed writes makes the store relaxed",
    replacements: [
      ["const nodes = await readOptional(connections, selectNodes);", "const nodes: readonly Row[] = [];"],
    ],
  },
  {
    name: "postgres-key-twice",
    what: "PostgreSQL: two instances that get the same Idempotency-Key at the same time both write.",
    noticedBy: "test/postgres/instances",
    test: "of creates with one Idempotency-Key at the same time, one instance accepts one",
    replacements: [["if (totals === undefined && staged.receipts.size > 0) throw new Overtaken(false);", ""]],
  },
  {
    name: "postgres-build-without-lock",
    what: "PostgreSQL: a step of a build does not lock the resources that it reads, so it overwrites the keys of a later write.",
    noticedBy: "test/store/build-steps",
    test: "a step locks the resources that it reads, so it does not overwrite what is written meanwhile",
    replacements: [
      ["this.#read(collection, from, this.#driver.dialect.lockRows)", 'this.#read(collection, from, "")'],
    ],
  },
  {
    name: "postgres-build-old-declaration",
    what: "PostgreSQL: an instance that does not know the present declaration writes keys, so the new index lacks them.",
    noticedBy: "test/store/build-steps",
    test: "a step of an instance that does not know the present declaration writes nothing",
    replacements: [
      [
        "if (!isFirst && !(yield* this.#driver.lockHead(collection))) throw new StepTaken();",
        "if (!isFirst) yield* this.#driver.lockHead(collection);",
      ],
    ],
  },
  {
    name: "postgres-no-lock",
    what: "PostgreSQL: a write to a collection with unique attributes does not lock the head row before it reads.",
    noticedBy: "test/postgres/instances",
    test: "of creates with one unique value at the same time, one instance accepts one",
    replacements: [["end order by number for update`", "end order by number`"]],
  },
  {
    name: "postgres-constrained-not-held",
    what: "PostgreSQL: a write to a collection with constraints does not wait while an import or a rewind holds it.",
    noticedBy: "test/postgres/instances",
    test: "while an import or a rewind is in progress, no instance waits with writes to other collections",
    replacements: [["[...held, ...[...constrained].filter((number) => !sequences.has(number))]", "held"]],
  },
  {
    name: "postgres-delete-beside-import",
    what: "PostgreSQL: a resource is deleted while an import adds resources that refer to it.",
    noticedBy: "test/postgres/instances",
    test: "while an import or a rewind is in progress, no instance waits with writes to other collections",
    replacements: [["if (next === undefined || whole !== undefined)", "if (whole !== undefined)"]],
  },
  {
    name: "sequence-skips",
    what: "The sequence of a collection skips one number with each group of commits.",
    noticedBy: "test/store/sqlite",
    test: "a commit that was refused leaves no trace, and sequences have no gaps",
    replacements: [["  counters.sequence++;\n", "  counters.sequence += counters.sequence === 0 ? 2 : 1;\n"]],
  },
  {
    name: "postgres-other-format",
    what: "PostgreSQL: an instance of an older version writes to tables that a newer version has changed.",
    noticedBy: "test/store/formats",
    test: "an instance that still runs after a newer version has changed the tables writes nothing more",
    replacements: [["  requireSameFormat(format);\n", ""]],
  },
  {
    name: "value-free-after-refusal",
    what: "A refused change of the holder of a unique value makes the value free for the next commits of the group.",
    noticedBy: "test/store/postgres-slice",
    test: "a refused change of the holder of a value does not make the value free for commits of the same group",
    replacements: [
      [
        "else states.set(state, id);",
        "else staged.holders.set(key, new Map([...[...states].filter(([, other]) => other !== id), [state, id]]));",
      ],
    ],
  },
  {
    name: "deleted-version-lost",
    what: "An id that one group of commits creates and deletes loses its last version.",
    noticedBy: "test/store/postgres-slice",
    test: "an id that is created and deleted by commits that arrive together keeps its last version",
    replacements: [
      [
        'const deletes = changes.filter(({ kind }) => kind === "deleted");',
        'const deletes = changes.filter(({ kind, id }) => kind === "deleted" && resources.some((each) => each.id === id));',
      ],
    ],
  },
];
