/** Faults of computed attributes. */
import type { Fault } from "../faults.ts";

const stored = "test/capabilities/code/recompute";
const incomplete = "until a new attribute is complete, what names it gets 503, and the rest works";

export const computedFaults: readonly Fault[] = [
  {
    name: "computed-not-in-writes",
    what: "A write does not compute the attributes.",
    noticedBy: "test/capabilities/code/computed.both",
    test: "each kind of write computes attributes from what before has completed",
    replacements: [["return await computation.complete(completed);", "return completed;"]],
  },
  {
    name: "computed-required",
    what: "A stored resource without a new computed attribute does not fit the schema, so the service does not start.",
    noticedBy: stored,
    test: "stored resources can lack a new attribute that the schema requires",
    replacements: [
      [
        "if (computes === undefined) return violations;",
        "void computes;\n  if (violations) return violations;",
      ],
    ],
  },
  {
    name: "computed-skipped-by-imports",
    what: "An import without hooks stores what the file says about a computed attribute.",
    noticedBy: "test/capabilities/code/computed-ways",
    test: "an import computes, also by a key and without hooks, whatever the file says",
    replacements: [["ofSkipped: (name) => computing.get(name)", "ofSkipped: () => undefined"]],
  },
  {
    name: "computed-always-new-version",
    what: "A stored resource whose computed value does not differ gets a new version too.",
    noticedBy: stored,
    test: "a higher version changes only resources whose value differs",
    replacements: [["if (names.every(isSame)) return attributes;", "void isSame;"]],
  },
  {
    name: "computed-lower-version",
    what: "The service starts with a lower version of a computed attribute than the store has.",
    noticedBy: stored,
    test: "a lower version is a fault of the start",
    replacements: [
      ["if (stored > version) throw lowerVersion(", "if (stored > version + 9) throw lowerVersion("],
    ],
  },
  {
    name: "computed-remembered",
    what: "A computed attribute that was not declared for some time counts as complete.",
    noticedBy: stored,
    test: "an attribute that was removed counts as new when it comes back",
    replacements: [
      [
        "if (!declared.has(name)) await records.remove(",
        'if (name === "" && !declared.has(name)) await records.remove(',
      ],
    ],
  },
  {
    name: "computed-complete-in-spite-of-failures",
    what: "An attribute counts as complete although its function failed for a stored resource.",
    noticedBy: stored,
    test: incomplete,
    replacements: [
      [
        "if (passed.failed === 0) return completed(passed);",
        "if (passed.failed >= 0) return completed(passed);",
      ],
    ],
  },
  {
    name: "computed-passes-one-way",
    what: "Each pass over stored resources goes from the first id to the last one.",
    noticedBy: stored,
    test: "unique values that move to the next resource are computed in the end",
    replacements: [["isBackward: passed.isBackward !== true", "isBackward: false"]],
  },
  {
    name: "computed-listed-too-early",
    what: "Lists by a new computed attribute leave out resources that are not computed yet.",
    noticedBy: stored,
    test: incomplete,
    replacements: [
      [
        "if (incomplete.names.size > 0) await requireComplete(",
        "if (incomplete.names.size > 99) await requireComplete(",
      ],
    ],
  },
  {
    name: "computed-related-too-early",
    what: "A list sorted by a new computed attribute of related resources does not wait until it is complete.",
    noticedBy: stored,
    test: incomplete,
    replacements: [
      ["const last = through.at(-1)?.relation.collection ?? collection;", "const last = collection;"],
    ],
  },
  {
    name: "computed-unfit-stored",
    what: "A computed value that does not fit its schema is stored in a resource that exists already.",
    noticedBy: stored,
    test: "a value that does not fit its schema, or that another resource has, is not stored",
    replacements: [["requireFitting(collection, next);", "void requireFitting;"]],
  },
  {
    name: "computed-begins-again",
    what: "Each start begins the work on stored resources again, so a service that is killed often never ends it.",
    noticedBy: "test/capabilities/code/recompute-kill",
    test: "after kills, the work continues where it was, and no confirmed write is lost",
    replacements: [
      [
        "const next = recordNow(before?.value, declared, { isEmpty });",
        "const next = { ...recordNow(before?.value, declared, { isEmpty }), after: null, done: 0 };",
      ],
    ],
  },
];
