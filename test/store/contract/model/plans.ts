/** Random steps of clients. There are few ids and values, so that clients use the same ones. */
import fc from "fast-check";
import type { OnDelete, Reference } from "../../../../src/collection/references.ts";
import type { Unique } from "../../../../src/collection/unique.ts";
import type { CollectionRecord } from "../../../../src/store/port/record.ts";
import type { Key } from "../../../../src/store/port/stored.ts";
import { declaration } from "../fixture.ts";

/** The wanted change of one resource, independent of its state. */
export interface Wish {
  key: Key;
  isDelete: boolean;
  /** Whether a create chooses the id, and does not restore the resource. @default false */
  isChosen?: boolean;
  /** The difference between the expected version and the version that the client saw. */
  drift: number;
  attributes: Readonly<Record<string, unknown>>;
}

/** One step of a client. A commit first reads the resources, waits, and then writes. */
export type Step =
  | {
      kind: "commit";
      wishes: readonly Wish[];
      heldTurns: number;
      receipt: { key: string; lifeMs: number } | undefined;
    }
  | { kind: "read"; key: Key }
  | { kind: "list"; collection: string }
  | { kind: "receipt"; key: string };

/** The steps of each client. */
export type Plan = readonly (readonly Step[])[];

export const keys: readonly Key[] = [
  ...["a", "b", "c", "B", "é"].map((id) => ({ collection: "topics", id })),
  ...["kim", "lee", "ann"].map((id) => ({ collection: "users", id })),
  ...["1", "2"].map((id) => ({ collection: "numbers", id })),
];
export const receiptKeys: readonly string[] = Array.from({ length: 12 }, (_, n) => `k${n}`);

/** A placeholder for an id that no resource has had. */
export const newId = "new";

/** The time of the first phase. It is in the far future, so that no sweep removes receipts that have expired today. */
export const begin = Date.UTC(2100, 0, 1);

/** The time of a phase. Receipts are valid for half a phase, for one and a half phases, or for all phases. */
export const phaseMs = 1_000;
const lives = [phaseMs / 2, 1.5 * phaseMs, 1_000 * phaseMs];

const userKeys = keys.filter(({ collection }) => collection === "users");
const topicKeys = keys.filter(({ collection }) => collection === "topics");
const key = fc.constantFrom(...keys, ...userKeys);
const wanted = fc.constantFrom(
  ...keys,
  { collection: "topics", id: newId },
  { collection: "users", id: newId },
);
const userId = fc.constantFrom("kim", "lee", "ann");
const mostlyAbsent = (value: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 2, arbitrary: value });

const attributes = fc.record({
  email: mostlyAbsent(fc.constantFrom("x", "y", "X", 1, null)),
  nick: mostlyAbsent(fc.constantFrom("kim", "KIM", "Lee", "")),
  by: fc.option(userId, { nil: undefined, freq: 3 }),
  parent: mostlyAbsent(fc.constantFrom("a", "b", "c")),
  readers: mostlyAbsent(fc.array(userId, { maxLength: 3 })),
  n: mostlyAbsent(fc.constantFrom(1, 2)),
});
const drift = fc.oneof(
  { weight: 12, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.constantFrom(1, -1) },
);
const wish: fc.Arbitrary<Wish> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      key: wanted,
      isDelete: fc.constant(false),
      isChosen: fc.boolean(),
      drift,
      attributes,
    }),
  },
  { weight: 2, arbitrary: fc.record({ key, isDelete: fc.constant(true), drift, attributes }) },
);
const others = fc.uniqueArray(wish, {
  minLength: 1,
  maxLength: 3,
  size: "max",
  selector: (one) => Object.values(one.key).join("/"),
});
const put = (chosen: Key): fc.Arbitrary<Wish> =>
  fc.record({ key: fc.constant(chosen), isDelete: fc.constant(false), drift: fc.constant(0), attributes });
const removed = (chosen: Key): Wish => ({ key: chosen, isDelete: true, drift: 0, attributes: {} });
/** Commits of users only. They have no constraints, so only the expected versions matter. */
const unbound = fc.tuple(...userKeys.map(put));
/** A delete of a user can also delete the topic that another change uses as a parent. */
const below = fc
  .record({
    user: fc.constantFrom(...userKeys),
    topic: fc.constantFrom(...topicKeys),
    parent: fc.constantFrom("a", "b", "c"),
  })
  .map(({ user, topic, parent }) => [
    { key: topic, isDelete: false, drift: 0, attributes: { parent } },
    removed(user),
  ]);
const wishes: fc.Arbitrary<readonly Wish[]> = fc.oneof(
  { weight: 8, arbitrary: others },
  { weight: 1, arbitrary: unbound },
  { weight: 1, arbitrary: below },
);
const receipt = fc.record({ key: fc.constantFrom(...receiptKeys), lifeMs: fc.constantFrom(...lives) });
const maybeReceipt = fc.oneof(
  { weight: 2, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: receipt },
);
const rest = {
  kind: fc.constant("commit" as const),
  heldTurns: fc.constantFrom(0, 0, 0, 1, 3, 8),
};
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ ...rest, wishes, receipt: maybeReceipt }) },
  {
    weight: 1,
    arbitrary: fc.record({
      ...rest,
      wishes: fc.constant([]),
      receipt,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("read" as const), key }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("list" as const),
      collection: fc.constantFrom("topics", "users", "numbers"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("receipt" as const), key: fc.constantFrom(...receiptKeys) }),
  },
);

/** The plans of this number of clients, each with at most `steps` steps. */
export function plans(clients: { min: number; max: number }, steps: number): fc.Arbitrary<Plan> {
  const each = fc.array(step, { minLength: 1, maxLength: steps, size: "max" });
  return fc.array(each, { minLength: clients.min, maxLength: clients.max, size: "max" });
}

const onDelete = fc.constantFrom<OnDelete>("restrict", "cascade", "cascade", "clear");

/** Three collections that refer to each other, with random `onDelete`. */
export const declarations: fc.Arbitrary<readonly CollectionRecord[]> = fc
  .record({ by: onDelete, parent: onDelete, n: onDelete, numbersBy: onDelete })
  .map(declarationsWith);

function declarationsWith(by: Record<"by" | "parent" | "n" | "numbersBy", OnDelete>): CollectionRecord[] {
  return [
    declared("users", []),
    declared("numbers", [to("users", "by", by.numbersBy)]),
    declared("topics", [
      to("users", "by", by.by),
      to("topics", "parent", by.parent),
      to("users", "readers", "clear"),
      to("numbers", "n", by.n),
    ]),
  ];
}

const soleCommit = (
  chosen: Key,
  how: Partial<Wish> = {},
  receipt?: { key: string; lifeMs: number },
): Step => ({
  kind: "commit",
  wishes: [{ key: chosen, isDelete: false, drift: 0, attributes: {}, ...how }],
  heldTurns: 0,
  receipt,
});
const [kim, lee, ann] = ["kim", "lee", "ann"].map((id) => ({ collection: "users", id })) as [Key, Key, Key];
const [a, b] = ["a", "b"].map((id) => ({ collection: "topics", id })) as [Key, Key];
const lasting = { key: receiptKeys[0] as string, lifeMs: 1_000 * phaseMs };

/** Declarations, and a plan with one client, in which a commit comes to every possible outcome. */
export const everyOutcome: readonly [readonly CollectionRecord[], Plan] = [
  declarationsWith({ by: "restrict", parent: "restrict", n: "restrict", numbersBy: "restrict" }),
  [
    [
      soleCommit(kim, {}, lasting),
      soleCommit(lee, {}, lasting), // the key is used
      soleCommit(kim, { drift: 1 }),
      soleCommit(a, { attributes: { email: "x" } }),
      soleCommit(b, { attributes: { email: "x" } }), // the email is taken
      soleCommit(ann, { isDelete: true }),
      soleCommit(a, { attributes: { by: "ann" } }), // Ann is gone
      soleCommit(kim, { isDelete: true }), // topics refer to Kim
    ],
  ],
];

function to(collection: string, attribute: string, onDelete: OnDelete): Reference {
  return { path: [attribute], collection, onDelete };
}

function declared(name: string, references: readonly Reference[]): CollectionRecord {
  const email: Unique = { path: ["email"], ignoreCase: false };
  const nick: Unique = { path: ["nick"], ignoreCase: true };
  const parentAndN: Unique = {
    path: ["parent"],
    others: [{ path: ["n"] }, { path: ["nick"] }],
    ignoreCase: true,
  };
  // A delete that clears `by` can make two topics equal.
  const withoutBy = { kind: "exists", path: ["by"] as const, value: false };
  const where = { declared: { by: { exists: false } }, paths: [["by"]] as const, filter: withoutBy };
  const nWithoutBy: Unique = { path: ["n"], ignoreCase: false, where };
  return declaration(name, {
    idKind: name === "numbers" ? "integer" : "uuid",
    unique: name === "users" ? [] : name === "topics" ? [email, nick, parentAndN, nWithoutBy] : [email],
    references,
  });
}
