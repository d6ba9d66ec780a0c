import assert from "node:assert/strict";
import { test } from "node:test";
import type { Store } from "../../../src/store/port/store.ts";
import { at, created, type OpenFixture, onStore, topic, user } from "./fixture.ts";

/** How many resources a large commit creates. */
const many = 300;

/** Starts commits at once. Resolves to their names, in the order in which they are written. */
async function orderOf(
  store: Store,
  commits: readonly { name: string; caller: string; isLarge?: boolean; in?: typeof topic }[],
): Promise<string[]> {
  const order: string[] = [];
  await Promise.all(
    commits.map(async ({ name, caller, isLarge = false, in: keyOf = topic }) => {
      const keys = Array.from({ length: isLarge ? many : 1 }, (_, n) => keyOf(`${name}-${n}`));
      const changes = keys.map((key) => created(key, { pad: "x".repeat(500) }));
      await store.commit({ changes, at, caller: () => caller });
      order.push(name);
    }),
  );
  return order;
}

/** How the commits of several callers take turns. */
export function turnsContract(open: OpenFixture): void {
  const larges = (caller: string, count: number) =>
    Array.from({ length: count }, (_, n) => ({ name: `${caller}${n}`, caller, isLarge: true }));

  test(
    "large commits of one caller do not keep another one from its turn",
    onStore(open, async (store) => {
      const order = await orderOf(store, [...larges("a", 6), ...larges("b", 2), ...larges("c", 1)]);
      assert.deepEqual(order, ["a0", "b0", "c0", "a1", "b1", "a2", "a3", "a4", "a5"]);
    }),
  );

  test(
    "a small commit does not wait for the large ones that arrived before it",
    onStore(open, async (store) => {
      const small = { name: "small", caller: "b", in: user };
      const order = await orderOf(store, [...larges("a", 12), small]);
      assert.ok(order.indexOf("small") < 12, "some large commits come later");
    }),
  );

  test(
    "many small commits of one caller do not keep another one from its turn",
    onStore(open, async (store) => {
      const many = Array.from({ length: 3_000 }, (_, n) => ({ name: `a${n}`, caller: "a" }));
      const order = await orderOf(store, [...many, { name: "b", caller: "b" }]);
      assert.ok(order.indexOf("b") < 2_000, `${order.indexOf("b")} came first`);
    }),
  );

  test(
    "commits that continue each other are written in their order, whoever sends them",
    onStore(open, async (store) => {
      const text = (n: number) => JSON.stringify({ id: "a", n });
      await store.commit({ changes: [{ key: topic("a"), expect: "absent", next: text(0) }], at });
      const others = Array.from({ length: 2_000 }, (_, n) =>
        store.commit({ changes: [created(topic(`other-${n}`))], at, caller: () => "a" }),
      );
      const chain = Array.from({ length: 20 }, (_, n) =>
        store.commit({
          changes: [{ key: topic("a"), expect: n + 1, expectText: text(n), next: text(n + 1) }],
          at,
          caller: () => (n % 2 === 0 ? "a" : "b"),
        }),
      );
      await Promise.all([...others, ...chain]);
      assert.equal((await store.read(topic("a")))?.text, text(20));
    }),
  );
}
