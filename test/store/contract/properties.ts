import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { openCollection } from "../../../src/collection/collection.ts";
import type { Problem } from "../../../src/errors.ts";
import { planRewind } from "../../../src/rewind/rewind-plan.ts";
import { HistoryMissing } from "../../../src/store/port/change-log.ts";
import type { Change } from "../../../src/store/port/commit.ts";
import { logStart } from "../../../src/store/port/log-place.ts";
import type { Store } from "../../../src/store/port/store.ts";
import { until } from "../../until.ts";
import {
  commit,
  created,
  declaration,
  deleted,
  type Fixture,
  type OpenFixture,
  onStore,
  type Runs,
  rejectsWith,
  textOf,
  topic,
  updated,
  user,
} from "./fixture.ts";

/** A store that is a Map, to compare with. */
class Model {
  readonly resources = new Map<string, { version: number; text: string }>();
  sequence = 0;

  /** Whether the commit should be accepted. */
  apply(changes: readonly Change[]): boolean {
    const isFresh = ({ key, expect }: Change) =>
      (this.resources.get(key.id)?.version ?? 0) === (expect === "absent" ? 0 : expect);
    if (!changes.every(isFresh)) return false;
    for (const { key, expect, next } of changes) {
      this.sequence++;
      if (next === undefined) this.resources.delete(key.id);
      else this.resources.set(key.id, { version: expect === "absent" ? 1 : expect + 1, text: next });
    }
    return true;
  }
}

const change: fc.Arbitrary<Change> = fc.record({
  key: fc.constantFrom("a", "b", "c", "B", "é").map(topic),
  expect: fc.oneof(fc.constant("absent" as const), fc.integer({ min: 1, max: 4 })),
  next: fc.option(fc.json({ maxDepth: 1 }), { nil: undefined }),
});
const changes = fc
  .uniqueArray(change, { minLength: 1, maxLength: 3, selector: ({ key }) => key.id })
  // to delete what should not be there is nonsense that no caller asks for
  .filter((list) => list.every(({ expect, next }) => expect !== "absent" || next !== undefined));
const step = fc.oneof(
  { weight: 12, arbitrary: fc.array(changes, { minLength: 1, maxLength: 8 }) },
  { weight: 1, arbitrary: fc.constant("reopen" as const) },
);

async function requireEqual(store: Store, model: Model): Promise<void> {
  const { items, total, sequence } = await store.list({ collection: "topics", limit: 100 });
  assert.deepEqual(new Map(items.map(({ id, version, text }) => [id, { version, text }])), model.resources);
  assert.deepEqual([total, sequence], [model.resources.size, model.sequence]);
  for (const [id, { text }] of model.resources) assert.equal((await store.read(topic(id)))?.text, text);
}

/** Every version of a resource, from the change log and the current state. */
async function rebuildHistory(store: Store): Promise<Map<string, string>> {
  const history = new Map<string, string>();
  const lives = new Map<string, number>();
  const name = (id: string, version: number) => `${id} ${lives.get(id) ?? 0} v${version}`;
  for (const { id, version, kind, superseded } of (await store.changesAfter("topics", logStart, 100_000))
    .changes) {
    if (kind === "created") lives.set(id, (lives.get(id) ?? 0) + 1);
    else history.set(name(id, version - 1), superseded as string);
  }
  for await (const { id, version, text } of store.scan("topics")) history.set(name(id, version), text);
  return history;
}

type Act = "import" | "update" | "delete" | "restore" | "erase" | "cascade" | "rewind";

/** What one step does to some resources. `back`: to which of the earlier steps it rewinds. */
interface Life {
  id: Id;
  act: Act;
  back: number;
  /** Whether it does this to all resources. */
  together: boolean;
}

/** The store is opened again, with or without history. `isSwept`: without history, it first removes its log. */
interface Reopening {
  history: "forever" | "none";
  isSwept: boolean;
}

const ids = ["a", "b", "c"] as const;
type Id = (typeof ids)[number];

/**
 * The life of three topics, each owned by a user. The time of a step is its number, and the store removes old changes only where a step
 * says so: the same steps always end in the same way.
 */
class Lives {
  readonly #reopen: Fixture["reopen"];
  #store: Store;
  #isLogged = true;
  readonly #texts = new Map<string, string>();
  readonly #versions = new Map<Id, number>();

  constructor(store: Store, reopen: Fixture["reopen"]) {
    this.#store = store;
    this.#reopen = reopen;
  }

  async live(steps: readonly (Life | Reopening)[]): Promise<void> {
    const references = [{ path: ["of"], collection: "users", onDelete: "cascade" }] as const;
    await this.#store.migrate([declaration("topics", { references })]);
    const moments: number[] = [];
    for (const [n, step] of steps.entries()) {
      if ("history" in step) await this.#openAgain(step);
      else {
        moments.push(n);
        await commit(this.#store, [created(user(`u${n}`))], { at: n });
        const to = moments.at(-1 - (step.back % moments.length)) as number;
        if (step.act === "rewind") await this.#rewind(to, n);
        else await this.#act(step, n);
      }
      for (const id of ids) await this.#check(id);
    }
  }

  async #openAgain({ history, isSwept }: Reopening): Promise<void> {
    this.#isLogged = history !== "none";
    const store = await this.#reopen({ history, ...(isSwept ? { sweepMs: 20 } : withoutSweeps) });
    this.#store = store;
    if (this.#isLogged || !isSwept) return;
    const isEmpty = async (name: string) =>
      (await store.changesAfter(name, logStart, 1)).changes.length === 0;
    await until("the logs are empty", async () => (await isEmpty("topics")) && (await isEmpty("users")));
  }

  async #rewind(to: number, n: number): Promise<void> {
    const collections = ["topics", "users"].map((name) => openCollection(name));
    const planned = planRewind(this.#store, { collections, to, now: n, maxBytes: 2 ** 20 });
    const plan = await planned.catch((error: unknown) => {
      if (!(error instanceof HistoryMissing)) throw error;
    });
    if (plan !== undefined && plan.commit.changes.length > 0) await this.#store.commit(plan.commit);
  }

  /** Does one thing to each of the topics for which it is possible. The texts that it writes have never been before. */
  async #act({ act, id: one, together }: Life, n: number): Promise<void> {
    const store = this.#store;
    const fields = { n, of: `u${n}` };
    const write = (change: Change) => commit(store, [change], { at: n });
    const some = together ? ids : [one];
    if (act === "import") {
      const load = await store.load("topics", { at: n });
      await load.add(some.map((id) => ({ id, text: textOf(id, fields) })));
      return load.finish();
    }
    for (const id of some) {
      const key = topic(id);
      if (act === "erase") {
        await store.erase(key);
        continue;
      }
      const stored = await store.read(key);
      if (stored === undefined) {
        if (act === "restore") await this.#restore(id, (after) => write({ ...created(key, fields), after }));
        continue;
      }
      if (act === "update") await write(updated(key, stored.version, fields));
      if (act === "delete") await write(deleted(key, stored.version));
      const { of = "" } = JSON.parse(stored.text) as { of?: string };
      const owner = act === "cascade" ? await store.read(user(of)) : undefined;
      if (owner !== undefined) await write(deleted(user(of), owner.version));
    }
  }

  /** Restores a topic whose last change in the log is its delete, after its last delete, which the log can lack. */
  async #restore(id: Id, write: (after: number) => Promise<unknown>): Promise<void> {
    const [last] = await this.#store.changesOf(topic(id), { before: Number.MAX_SAFE_INTEGER, limit: 1 });
    if (last?.kind !== "deleted") return;
    const version = await this.#store.lastVersion(topic(id));
    if (version > last.version) await rejectsWith("PRECONDITION_FAILED", write(last.version));
    await write(version);
  }

  /** Fails if the version of a topic had another text before, or if its versions do not grow. */
  async #check(id: Id): Promise<void> {
    const stored = await this.#store.read(topic(id));
    if (stored === undefined) return;
    const { version, text } = stored;
    const name = `${id} v${version}`;
    assert.equal(this.#texts.get(name) ?? text, text, `${id} has version ${version} twice`);
    const before = this.#versions.get(id);
    if (before === undefined) assert.equal(version, 1, `${id} is new`);
    else assert.ok(version >= before, `${id} went back to version ${version}`);
    this.#texts.set(name, text);
    this.#versions.set(id, version);
  }
}
/** The store removes no old changes while it is open. */
const withoutSweeps = { sweepMs: Number.POSITIVE_INFINITY };

/** The number of random cases. `npm run prove -- models lists` does more. */
const cases = (runs: Runs) => runs(6, "HOLDFAST_TEST_RUNS");

/** Commits that arrive together. */
export function togetherContract(open: OpenFixture, runs: Runs): void {
  test("random writes, arriving together and with reopening between, equal a Map", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), (steps) =>
        onStore(open, async (first, reopen) => {
          const model = new Model();
          let store = first;
          for (const together of steps) {
            if (together === "reopen") {
              store = await reopen();
              continue;
            }
            const results = await Promise.allSettled(together.map((list) => commit(store, list)));
            const expected = together.map((list) => (model.apply(list) ? "fulfilled" : "rejected"));
            assert.deepEqual(
              results.map(({ status }) => status),
              expected,
            );
          }
          await requireEqual(store, model);
        })(),
      ),
      { numRuns: cases(runs) },
    );
  });

  test(
    "of writers to one resource exactly one wins each version, and nothing that won is lost",
    onStore(open, async (store) => {
      await commit(store, [created(topic("a"), { by: [] })]);
      const writers = 16;
      const each = 12;
      const append = async (mark: string) => {
        for (;;) {
          const current = await store.read(topic("a"));
          assert.ok(current);
          const { by } = JSON.parse(current.text) as { by: string[] };
          const next = textOf("a", { by: [...by, mark] });
          try {
            await store.commit({ changes: [{ key: topic("a"), expect: current.version, next }], at: 0 });
            return;
          } catch (error) {
            assert.equal((error as Problem).code, "PRECONDITION_FAILED");
          }
        }
      };
      const marks = Array.from({ length: writers }, (_, writer) =>
        Array.from({ length: each }, (_, n) => `${writer}.${n}`),
      );
      await Promise.all(
        marks.map(async (own) => {
          for (const mark of own) await append(mark);
        }),
      );
      const last = await store.read(topic("a"));
      assert.equal(last?.version, writers * each + 1);
      const { by } = JSON.parse(last.text) as { by: string[] };
      assert.deepEqual([...by].sort(), marks.flat().sort());
      for (const own of marks)
        assert.deepEqual(
          by.filter((mark) => own.includes(mark)),
          own,
        );
    }),
  );
}

export function propertyContract(open: OpenFixture, runs: Runs): void {
  test("no version of an id ever has two texts, whatever deletes, erases and brings it back", async () => {
    const life = fc.record({
      id: fc.constantFrom(...ids),
      act: fc.constantFrom("import", "update", "delete", "restore", "erase", "cascade", "rewind"),
      back: fc.nat({ max: 30 }),
      together: fc.boolean(),
    });
    const reopening = fc.record({
      history: fc.constantFrom("forever", "none"),
      isSwept: fc.boolean(),
    });
    const steps = fc.array(fc.oneof({ weight: 9, arbitrary: life }, { weight: 1, arbitrary: reopening }), {
      minLength: 8,
      maxLength: 30,
    });
    const live = (all: readonly (Life | Reopening)[]) =>
      onStore(open, (store, reopen) => new Lives(store, reopen).live(all), withoutSweeps)();
    await fc.assert(fc.asyncProperty(steps, live), { numRuns: cases(runs) });
  });

  test(
    "a resource whose last delete is not in the log is restored after that delete",
    onStore(
      open,
      async (store, reopen) => {
        await commit(store, [created(topic("a"))]);
        await commit(store, [deleted(topic("a"), 1)]);
        const unlogged = await reopen({ history: "none", ...withoutSweeps });
        await commit(unlogged, [{ ...created(topic("a")), last: 2 }]);
        await commit(unlogged, [deleted(topic("a"), 3)]);
        const restored = (after: number) => commit(unlogged, [{ ...created(topic("a")), after }]);
        await rejectsWith("PRECONDITION_FAILED", restored(2));
        assert.deepEqual(
          (await restored(4)).map(({ version }) => version),
          [5],
        );
      },
      withoutSweeps,
    ),
  );

  test(
    "the change log holds every version that ever was",
    onStore(open, async (store) => {
      const written = new Map<string, string>();
      const versions = new Map<string, number>();
      const lives = new Map<string, number>();
      for (let n = 0; n < 300; n++) {
        const id = `t${n % 7}`;
        const version = versions.get(id) ?? 0;
        const isDelete = version > 0 && n % 5 === 0;
        const text = textOf(id, { n });
        await store.commit({
          changes: [
            {
              key: topic(id),
              expect: version === 0 ? "absent" : version,
              next: isDelete ? undefined : text,
            },
          ],
          at: n,
        });
        if (version === 0) lives.set(id, (lives.get(id) ?? 0) + 1);
        versions.set(id, isDelete ? 0 : version + 1);
        if (!isDelete) written.set(`${id} ${lives.get(id)} v${version + 1}`, text);
      }
      assert.deepEqual(await rebuildHistory(store), written);
    }),
  );
}
