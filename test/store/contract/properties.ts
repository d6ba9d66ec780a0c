import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { openCollection } from "../../../src/collection/collection.ts";
import type { Problem } from "../../../src/errors.ts";
import { planRewind } from "../../../src/rewind/rewind-plan.ts";
import { HistoryMissing } from "../../../src/store/port/change-log.ts";
import type { Change } from "../../../src/store/port/commit.ts";
import type { Store } from "../../../src/store/port/store.ts";
import {
  commit,
  created,
  declaration,
  deleted,
  type OpenFixture,
  onStore,
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
  for (const { id, version, kind, superseded } of (await store.changesAfter("topics", 0, 100_000)).changes) {
    if (kind === "created") lives.set(id, (lives.get(id) ?? 0) + 1);
    else history.set(name(id, version - 1), superseded as string);
  }
  for await (const { id, version, text } of store.scan("topics")) history.set(name(id, version), text);
  return history;
}

/** Without history, a later delete is not in the log. The store then refuses to restore the resource after the one in the log. */
function allowOvertaken(error: Problem): void {
  if (error.code !== "PRECONDITION_FAILED") throw error;
}

type Act = "import" | "update" | "delete" | "restore" | "erase" | "cascade" | "rewind";

/** Does one thing to each of the resources for which it is possible. The texts that it writes have never been before. */
async function act(
  store: Store,
  { act, ids, n, to }: { act: Act; ids: readonly string[]; n: number; to: number },
): Promise<void> {
  const fields = { n, of: `u${n}` };
  const write = (change: Change) => commit(store, [change], { at: Date.now() });
  if (act === "rewind") {
    const collections = ["topics", "users"].map((name) => openCollection(name));
    const planned = planRewind(store, { collections, to, now: Date.now(), maxBytes: 2 ** 20 });
    const plan = await planned.catch((error: unknown) => {
      if (!(error instanceof HistoryMissing)) throw error;
    });
    if (plan !== undefined && plan.commit.changes.length > 0) await store.commit(plan.commit);
    return;
  }
  if (act === "import") {
    const load = await store.load("topics");
    await load.add(ids.map((id) => ({ id, text: textOf(id, fields) })));
    return load.finish();
  }
  for (const id of ids) {
    const key = topic(id);
    if (act === "erase") {
      await store.erase(key);
      continue;
    }
    const stored = await store.read(key);
    const [change] = await store.changesOf(key, { before: Number.MAX_SAFE_INTEGER, limit: 1 });
    if (act === "restore" && stored === undefined && change?.kind === "deleted")
      await write({ ...created(key, fields), after: change.version }).catch(allowOvertaken);
    if (stored === undefined || act === "restore") continue;
    if (act === "update") await write(updated(key, stored.version, fields));
    if (act === "delete") await write(deleted(key, stored.version));
    const { of = "" } = JSON.parse(stored.text) as { of?: string };
    const owner = act === "cascade" ? await store.read(user(of)) : undefined;
    if (owner !== undefined) await write(deleted(user(of), owner.version));
  }
}

/** `npm run prove -- models lists` does more. */
const runs = Number(process.env.HOLDFAST_TEST_RUNS ?? 6);

/** Commits that arrive together. */
export function togetherContract(open: OpenFixture): void {
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
      { numRuns: runs },
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

export function propertyContract(open: OpenFixture): void {
  test("no version of an id ever has two texts, whatever deletes, erases and brings it back", async () => {
    const life = fc.record({
      id: fc.constantFrom("a", "b", "c"),
      act: fc.constantFrom("import", "update", "delete", "restore", "erase", "cascade", "rewind"),
      back: fc.nat({ max: 30 }),
      together: fc.boolean(),
    });
    const reopening = fc.record({ history: fc.constantFrom("forever" as const, "none" as const) });
    const steps = fc.array(fc.oneof({ weight: 9, arbitrary: life }, { weight: 1, arbitrary: reopening }), {
      minLength: 8,
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(steps, (all) =>
        onStore(open, async (first, reopen) => {
          let store = first;
          const references = [{ path: ["of"], collection: "users", onDelete: "cascade" }] as const;
          await store.migrate([declaration("topics", { references })]);
          const moments: number[] = [];
          const texts = new Map<string, string>();
          const last = new Map<string, number>();
          for (const [n, each] of all.entries()) {
            if ("history" in each) {
              store = await reopen(each);
              continue;
            }
            const ids = each.together ? ["a", "b", "c"] : [each.id];
            moments.push(Date.now());
            await commit(store, [created(user(`u${n}`))], { at: Date.now() });
            await act(store, {
              ...each,
              ids,
              n,
              to: moments.at(-1 - (each.back % moments.length)) as number,
            });
            for (const id of ids) {
              const stored = await store.read(topic(id));
              if (stored === undefined) continue;
              const { version, text } = stored;
              assert.equal(
                texts.get(`${id} v${version}`) ?? text,
                text,
                `${id} has version ${version} twice`,
              );
              assert.ok(version >= (last.get(id) ?? version), `${id} went back to version ${version}`);
              if (!last.has(id)) assert.equal(version, 1, `${id} is new`);
              texts.set(`${id} v${version}`, text);
              last.set(id, version);
            }
          }
        })(),
      ),
      { numRuns: runs },
    );
  });

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
