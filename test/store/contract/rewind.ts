/**
 * Rewinds: whatever was written, collections are again as they were at any moment. The state of each moment is recorded by
 * reading it. `npm run prove -- rewind` has more runs. HOLDFAST_TEST_SEED repeats a run.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { type Collection, openCollection } from "../../../src/collection/collection.ts";
import type { Reference } from "../../../src/collection/references.ts";
import { resourceText } from "../../../src/collection/resource.ts";
import { clientAttributes, withTimestamps } from "../../../src/collection/timestamps.ts";
import { Problem } from "../../../src/errors.ts";
import { planRewind, type RewindPlan } from "../../../src/rewind/rewind-plan.ts";
import { HistoryMissing } from "../../../src/store/port/change-log.ts";
import type { Change, Commit } from "../../../src/store/port/commit.ts";
import { toPlace } from "../../../src/store/port/log-place.ts";
import type { Store } from "../../../src/store/port/store.ts";
import type { Stored } from "../../../src/store/port/stored.ts";
import { seed } from "../../seed.ts";
import {
  at,
  commit,
  created,
  declaration,
  deleted,
  type OpenFixture,
  onStore,
  rejectsWith,
  textOf,
  topic,
  updated,
  user,
} from "./fixture.ts";

const runs = Number(process.env.HOLDFAST_TEST_REWIND_RUNS ?? 25);

const ids = ["a", "b", "c", "d"];
const kinds = ["authors", "books", "shelves"] as const;
type Kind = (typeof kinds)[number];

/** One write of one resource. */
interface Put {
  kind: Kind;
  id: string;
  /** `undefined` deletes it. */
  n: number | undefined;
  to: string | undefined;
}

type Step =
  | { do: "write"; puts: readonly Put[]; tick: number }
  | { do: "rewind"; part: number; only: Kind | undefined; tick: number };

const put: fc.Arbitrary<Put> = fc.record({
  kind: fc.constantFrom(...kinds),
  id: fc.constantFrom(...ids),
  n: fc.option(fc.nat({ max: 5 }), { nil: undefined, freq: 3 }),
  to: fc.option(fc.constantFrom(...ids), { nil: undefined, freq: 4 }),
});
/** Several writes can have the same time. */
const tick = fc.nat({ max: 2 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("write" as const),
      puts: fc.uniqueArray(put, { minLength: 1, maxLength: 4, selector: ({ kind, id }) => `${kind}/${id}` }),
      tick,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("rewind" as const),
      part: fc.nat({ max: 1_000 }),
      only: fc.option(fc.constantFrom(...kinds), { nil: undefined, freq: 3 }),
      tick,
    }),
  },
);

/** The attributes of every resource, by kind and id. */
type State = Record<string, Record<string, unknown>>;

let worlds = 0;

/** Three collections of a store, with everything that they once were. */
class World {
  readonly #store: Store;
  readonly #number = ++worlds;
  #clock = at;
  readonly moments: { at: number; state: State }[] = [];
  rewinds = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  nameOf(kind: Kind): string {
    return `${kind}${this.#number}`;
  }

  async prepare(): Promise<void> {
    const reference = (path: string, to: Kind, onDelete: Reference["onDelete"]): Reference => ({
      path: [path],
      collection: this.nameOf(to),
      onDelete,
    });
    await this.#store.migrate([
      declaration(this.nameOf("authors"), { unique: [{ path: ["n"], ignoreCase: false }] }),
      declaration(this.nameOf("books"), { references: [reference("to", "authors", "cascade")] }),
      declaration(this.nameOf("shelves"), {
        references: [reference("to", "books", "clear")],
        timestamps: true,
      }),
    ]);
    this.moments.push({ at: this.#clock - 1, state: await this.state() });
  }

  async state(): Promise<State> {
    const all = await Promise.all(
      kinds.map(async (kind) => {
        const { items } = await this.#store.list({ collection: this.nameOf(kind), limit: 100 });
        return items.map(({ id, text }) => [
          `${kind}/${id}`,
          clientAttributes(this.#collection(kind), JSON.parse(text)),
        ]);
      }),
    );
    return Object.fromEntries(all.flat());
  }

  #collection(kind: Kind): Collection {
    return { ...openCollection(this.nameOf(kind)), timestamps: kind === "shelves" };
  }

  /** Writes; the store can refuse. */
  async write({ puts, tick }: Extract<Step, { do: "write" }>): Promise<void> {
    this.#clock += tick;
    const changes: Change[] = [];
    for (const each of puts) changes.push(...(await this.#changeOf(each)));
    if (changes.length === 0) return;
    try {
      await this.#store.commit({ changes, at: this.#clock });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return;
    }
    this.moments.push({ at: this.#clock, state: await this.state() });
  }

  async #changeOf({ kind, id, n, to }: Put): Promise<Change[]> {
    const key = { collection: this.nameOf(kind), id };
    const current = await this.#store.read(key);
    if (n === undefined)
      return current === undefined ? [] : [{ key, expect: current.version, next: undefined }];
    const attributes = { n, ...(to !== undefined && kind !== "authors" && { to }) };
    const next = this.#textOf(kind, id, attributes, current);
    if (current !== undefined) return [{ key, expect: current.version, next }];
    const [last] = await this.#store.changesOf(key, { before: Number.MAX_SAFE_INTEGER, limit: 1 });
    return [{ key, expect: "absent", next, ...(last && { after: last.version }) }];
  }

  #textOf(kind: Kind, id: string, attributes: Record<string, unknown>, before: Stored | undefined): string {
    const all = kind === "shelves" ? withTimestamps(attributes, this.#clock, before) : attributes;
    return resourceText("uuid", id, all);
  }

  /** Rewinds all collections, or one, to a moment between the first one and now. */
  async rewind({ part, only, tick }: Extract<Step, { do: "rewind" }>): Promise<void> {
    this.#clock += tick;
    const earliest = at - 1;
    const to = earliest + Math.floor(((this.#clock - earliest) * part) / 1_000);
    const before = await this.state();
    const wanted = this.moments.findLast((each) => each.at <= to)?.state ?? {};
    const rewound = only === undefined ? kinds : [only];
    const first = await this.#firstChange(rewound);
    if (first !== undefined && to < first.at) {
      await assert.rejects(this.#plan(rewound, to), { name: "HistoryMissing", since: first.at });
      return;
    }
    const plan = await this.#plan(rewound, to);
    this.rewinds++;
    const isFor = ([name]: [string, unknown]) => rewound.includes(name.split("/")[0] as Kind);
    const expected = { ...entriesOf(before, (each) => !isFor(each)), ...entriesOf(wanted, isFor) };
    try {
      if (plan.commit.changes.length > 0) await this.#store.commit(plan.commit);
    } catch (error) {
      // The other collections can forbid that only one goes back.
      if (only === undefined || !(error instanceof Problem)) throw error;
      assert.deepEqual(await this.state(), before);
      return;
    }
    assert.deepEqual(await this.state(), expected, `to ${to - at}`);
    if (plan.commit.changes.length === 0) return;
    this.#clock = Math.max(this.#clock, plan.commit.at);
    this.moments.push({ at: plan.commit.at, state: expected });
  }

  /** The first change of several collections. */
  async #firstChange(rewound: readonly Kind[]): Promise<{ at: number } | undefined> {
    const firsts = await Promise.all(
      rewound.map((kind) => this.#store.changeAt(this.nameOf(kind), toPlace(1))),
    );
    return firsts.filter((each) => each !== undefined).sort((a, b) => a.at - b.at)[0];
  }

  #plan(rewound: readonly Kind[], to: number): Promise<RewindPlan> {
    const collections = rewound.map((kind) => this.#collection(kind));
    return planRewind(this.#store, { collections, to, now: this.#clock, maxBytes: 2 ** 30 });
  }
}

function entriesOf(state: State, isWanted: (entry: [string, Record<string, unknown>]) => boolean): State {
  return Object.fromEntries(Object.entries(state).filter(isWanted));
}

/** Plans to rewind collections of the fixture. */
function plan(store: Store, to: number, ...names: string[]): Promise<RewindPlan> {
  const collections = names.map((name) => openCollection(name));
  return planRewind(store, { collections, to, now: at + 1_000, maxBytes: 2 ** 30 });
}

/** Collects the codes and resources of a refusal. */
async function refusalsOf(store: Store, { commit: planned, misfits }: RewindPlan): Promise<string[]> {
  await assert.rejects(store.commit(planned), (error) => {
    misfits.addRefusals(error, planned.changes);
    return true;
  });
  return misfits.first
    .map(({ collection, id, code, pointer = "" }) => `${collection}/${id} ${code} ${pointer}`)
    .sort();
}

export function rewindContract(open: OpenFixture): void {
  test("a rewind to any moment brings back the state of that moment", async () => {
    let rewinds = 0;
    const perStore = 200;
    for (let done = 0; done < runs; done += perStore) {
      await onStore(open, async (store) => {
        const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
          const world = new World(store);
          await world.prepare();
          for (const each of steps) await (each.do === "write" ? world.write(each) : world.rewind(each));
          rewinds += world.rewinds;
        });
        await fc.assert(property, { numRuns: Math.min(perStore, runs - done), seed: seed + done });
      })();
    }
    console.log(`HOLDFAST_TEST_SEED=${seed}, ${rewinds} rewinds`);
  });

  describe("the moment of a rewind", () => {
    test(
      "never cuts a commit in two, although its changes are on both sides of a clock that was set back",
      onStore(open, async (store) => {
        await commit(store, [created(topic("x"))], { at: at + 10 });
        await commit(store, [created(topic("a"))], { at: at + 100 });
        await commit(store, [created(topic("b")), created(user("b"))], { at: at + 50 });
        await commit(store, [created(topic("c")), created(user("c"))], { at: at + 90 });
        const { commit: planned } = await plan(store, at + 80, "topics", "users");
        const undone = planned.changes.map(({ key }) => `${key.collection}/${key.id}`);
        assert.deepEqual(undone, ["topics/c", "users/c"]);
      }),
    );

    test(
      "is refused if the log of one collection begins later, with the name and the time",
      onStore(open, async (store) => {
        await commit(store, [created(topic("a")), created(user("a"))]);
        await commit(store, [updated(topic("a"), 1, { n: 1 }), created(topic("b"))], { at: at + 10 });
        await commit(store, [created(topic("c"))], { at: at + 20 });
        await store.erase(topic("a"));
        await assert.rejects(plan(store, at + 5, "users", "topics"), (error) => {
          assert.ok(error instanceof HistoryMissing);
          assert.equal(error.collection, "topics");
          return true;
        });
        assert.deepEqual((await plan(store, at + 5, "users")).commit.changes, []);
      }),
    );

    test(
      "is refused if it is before the first change, with the collection that has it and its time",
      onStore(open, async (store) => {
        assert.deepEqual((await plan(store, at, "users", "topics")).commit.changes, []);
        await commit(store, [created(topic("a"))], { at: at + 10 });
        await commit(store, [created(user("a"))], { at: at + 20 });
        const missing = { name: "HistoryMissing", collection: "topics", since: at + 10 };
        await assert.rejects(plan(store, at, "users", "topics"), missing);
        await assert.rejects(plan(store, at + 10, "users"), { collection: "users", since: at + 20 });
        assert.equal((await plan(store, at + 10, "users", "topics")).commit.changes.length, 1);
      }),
    );

    test(
      "does not bring back an erased resource",
      onStore(open, async (store) => {
        await commit(store, [created(topic("a")), created(topic("b"))]);
        await store.erase(topic("a"));
        // The log does not say when the erasure was, so this is the first moment after it.
        await commit(store, [created(topic("c"))], { at: at + 10 });
        await commit(store, [updated(topic("b"), 1, { n: 1 })], { at: at + 20 });
        const { commit: planned } = await planRewind(store, {
          collections: [openCollection("topics")],
          to: at + 10,
          now: at + 30,
          maxBytes: 2 ** 20,
        });
        await store.commit(planned);
        assert.equal(await store.read(topic("a")), undefined);
        assert.equal((await store.read(topic("b")))?.text, textOf("b"));
      }),
    );
  });

  describe("a commit of whole collections", () => {
    test(
      "is refused if one of them has changed in the meantime, even one without changes in the commit",
      onStore(open, async (store) => {
        await commit(store, [created(topic("a")), created(user("a"))]);
        await commit(store, [updated(topic("a"), 1, { n: 1 })], { at: at + 10 });
        const { commit: planned } = await plan(store, at, "topics", "users");
        assert.equal(planned.changes.length, 1);
        await commit(store, [created(user("b"))], { at: at + 20 });
        await rejectsWith("PRECONDITION_FAILED", store.commit(planned));
        assert.equal((await store.read(topic("a")))?.version, 2);
        await store.commit((await plan(store, at, "topics", "users")).commit);
        assert.equal((await store.read(topic("a")))?.text, textOf("a"));
        assert.equal(await store.read(user("b")), undefined);
      }),
    );

    test(
      "is refused if it is sent together with a write to one of them",
      onStore(open, async (store) => {
        await commit(store, [created(topic("a"))]);
        await commit(store, [updated(topic("a"), 1, { n: 1 })], { at: at + 10 });
        const { commit: planned } = await plan(store, at, "topics");
        const both = await Promise.allSettled([commit(store, [created(topic("b"))]), store.commit(planned)]);
        assert.deepEqual(
          both.map(({ status }) => status),
          ["fulfilled", "rejected"],
        );
      }),
    );

    test(
      "lists all its refusals",
      onStore(open, async (store) => {
        await commit(store, [
          created(topic("a"), { code: 1 }),
          created(topic("b"), { code: 2, by: "u" }),
          created(user("first")),
        ]);
        await commit(store, [created(user("u"))], { at: at + 5 });
        await commit(store, [updated(topic("a"), 1), updated(topic("b"), 1, { code: 2, by: "v" })], {
          at: at + 10,
        });
        await commit(
          store,
          [created(topic("c"), { code: 1 }), created(user("w")), created(topic("d"), { by: "w" })],
          {
            at: at + 20,
          },
        );
        const whole = await plan(store, at, "topics");
        const users = await plan(store, at + 10, "users");
        const unique = [{ path: ["code"] as const, ignoreCase: false }];
        await commit(store, [updated(topic("b"), 2, { code: 2, by: "u" })], { at: at + 30 });
        await store.migrate([
          declaration("topics", {
            unique,
            references: [{ path: ["by"], collection: "users", onDelete: "cascade" }],
          }),
        ]);
        assert.deepEqual(await refusalsOf(store, users), ["users/w referenced "]);
        assert.equal((await store.read(user("w")))?.version, 1);
        await rejectsWith("PRECONDITION_FAILED", store.commit(whole.commit));
        const again = await plan(store, at, "users");
        assert.deepEqual(await refusalsOf(store, again), ["users/u referenced ", "users/w referenced "]);
        const topics = await plan(store, at, "topics");
        await commit(store, [deleted(topic("d"), 1)], { at: at + 40 });
        await rejectsWith("PRECONDITION_FAILED", store.commit(topics.commit));
        assert.deepEqual(await refusalsOf(store, await plan(store, at, "users")), ["users/u referenced "]);
      }),
    );

    test(
      "lists collisions and dangling references together",
      onStore(open, async (store) => {
        await commit(store, [
          created(topic("a"), { code: 1, by: "gone" }),
          created(topic("b"), { code: 1, by: "gone" }),
        ]);
        await commit(store, [updated(topic("a"), 1), updated(topic("b"), 1)], { at: at + 10 });
        await store.migrate([
          declaration("topics", {
            unique: [{ path: ["code"], others: [{ path: ["by"] }], ignoreCase: false }],
            references: [{ path: ["by"], collection: "users", onDelete: "cascade" }],
          }),
        ]);
        assert.deepEqual(await refusalsOf(store, await plan(store, at, "topics")), [
          "topics/a reference #/by",
          "topics/b reference #/by",
          "topics/b unique #/by",
          "topics/b unique #/code",
        ]);
        assert.equal((await store.read(topic("a")))?.version, 2);
      }),
    );

    test(
      "can be a dry run",
      onStore(open, async (store) => {
        await commit(store, [created(topic("a"))]);
        await commit(store, [updated(topic("a"), 1, { n: 1 })], { at: at + 10 });
        const { commit: planned } = await plan(store, at, "topics");
        assert.deepEqual(await store.commit({ ...planned, isDryRun: true }), []);
        assert.equal((await store.read(topic("a")))?.version, 2);
      }),
    );
  });

  describe("exclusive work", () => {
    test(
      "lets other writes wait, and is refused while other such work is in progress",
      onStore(open, async (store) => {
        const release = Promise.withResolvers<void>();
        const started = Promise.withResolvers<void>();
        const work = store.exclusively(["topics"], async (commitNow) => {
          started.resolve();
          await release.promise;
          const own: Commit = { changes: [created(topic("a"))], at };
          return (await commitNow(own))[0]?.sequence;
        });
        await started.promise;
        const other = commit(store, [created(topic("b"))]);
        await rejectsWith(
          "UNAVAILABLE",
          store.exclusively([], async () => {}),
        );
        await rejectsWith("UNAVAILABLE", store.load("topics"));
        release.resolve();
        assert.equal(await work, 1);
        assert.equal((await other)[0]?.sequence, 2);
        await assert.rejects(
          store.exclusively([], async () => {
            throw new Error("on purpose");
          }),
          /on purpose/,
        );
        await commit(store, [created(topic("c"))]);
      }),
    );
  });
}
