import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Problem } from "../../../src/errors.ts";
import type { Change } from "../../../src/store/commit.ts";
import type { Store } from "../../../src/store/store.ts";
import { commit, created, type OpenFixture, onStore, textOf, topic } from "./fixture.ts";

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

/** `npm run prove -- models lists` does more. */
const runs = Number(process.env.HOLDFAST_RUNS ?? 12);

export function propertyContract(open: OpenFixture): void {
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
