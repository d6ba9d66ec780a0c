/** Random resources, writes and times: what requests find is what has not expired, before and after sweeps. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { randomOf, seed } from "../seed.ts";
import { pagesFrom } from "./pages.ts";
import { startFor } from "./service.ts";
import { createSweepClock } from "./sweep-clock.ts";

interface Item {
  id: string;
  n: number;
  code?: string;
  until?: string | number;
}

const steps = 60;

test("lists, totals, figures and reads find what a model of the resources has", async (t) => {
  t.diagnostic(`HOLDFAST_TEST_SEED=${seed}`);
  const random = randomOf(seed);
  const below = (most: number) => Math.floor(random() * most);
  let now = Date.parse("2026-03-01T12:00:00.000Z");
  const { clock, sweep } = createSweepClock(() => now);
  const service = await startFor(t, {
    now: () => now,
    sweepClock: clock,
    collections: {
      items: {
        schema: {
          type: "object",
          properties: {
            n: { type: "integer" },
            code: { type: "string", maxLength: 10 },
            until: { type: ["string", "integer"], format: "date-value" },
          },
          additionalProperties: false,
        },
        indexes: ["n"],
        unique: ["code"],
        expires: "until",
      },
    },
  });
  const { send } = service;
  const path = "/api/v1/items";
  let model: Item[] = [];
  const isLive = ({ until }: Item) => until === undefined || new Date(until).getTime() > now;
  const dateOf = (at: number) =>
    [new Date(at).toISOString(), at, undefined, new Date(at).toISOString().slice(0, 10)][below(4)];
  const someAttributes = () => {
    const until = dateOf(now + (below(20) - 4) * 1_000);
    const code = below(2) === 0 ? `c${below(12)}` : undefined;
    return { n: below(5), ...(code !== undefined && { code }), ...(until !== undefined && { until }) };
  };
  const holderOf = (code: string | undefined, but?: string) =>
    model.find((each) => code !== undefined && each.code === code && each.id !== but && isLive(each));

  for (let step = 0; step < steps; step++) {
    for (let writes = below(4); writes >= 0; writes--) {
      const attributes = someAttributes();
      const target = model.filter(isLive)[below(6)];
      if (target === undefined || below(3) > 0) {
        const { status, json } = await send({ method: "POST", path, content: attributes });
        const isTaken = holderOf(attributes.code) !== undefined;
        assert.equal(status, isTaken ? 409 : 201);
        if (!isTaken) model.push(json as Item);
      } else {
        const { id } = target;
        const { status } = await send({
          method: "PUT",
          path: `${path}/${id}`,
          content: { id, ...attributes },
        });
        const isTaken = holderOf(attributes.code, id) !== undefined;
        assert.equal(status, isTaken ? 409 : 200);
        if (!isTaken) model = model.map((each) => (each.id === id ? { id, ...attributes } : each));
      }
    }
    if (below(2) === 0) now += below(4) * 1_000;
    if (below(4) === 0) await sweep();
    const live = model.filter(isLive);
    const least = below(5);
    const matching = live.filter(({ n }) => n >= least);
    const sort = ["", "&sort=n", "&sort=-n", "&sort=until", "&sort=-until,n"][below(5)];
    const found: string[] = [];
    const list = `${path}?n:gte=${least}&limit=${1 + below(7)}&count=exact${sort}`;
    for await (const { json, headers } of pagesFrom(send, list)) {
      assert.equal(headers["x-total-count"], String(matching.length), list);
      found.push(...(json as Item[]).map(({ id }) => id));
    }
    assert.deepEqual(found.toSorted(), matching.map(({ id }) => id).toSorted());
    assert.equal((await send({ path: `${path}?limit=1` })).headers["x-total-count"], String(live.length));
    const [figures] = (await send({ path: `${path}?aggregate=count,sum(n)` })).json as [
      Record<string, number>,
    ];
    assert.deepEqual(figures, { count: live.length, "sum(n)": live.reduce((sum, { n }) => sum + n, 0) });
    const one = model[below(model.length)];
    if (one !== undefined)
      assert.equal((await send({ path: `${path}/${one.id}` })).status, isLive(one) ? 200 : 404);
  }
  await sweep();
  const gone = model.filter((each) => !isLive(each));
  assert.ok(gone.length > 0);
  const { json } = await send({ path: `${path}/_deleted?limit=1000&fields=n` });
  assert.deepEqual((json as Item[]).map(({ id }) => id).toSorted(), gone.map(({ id }) => id).toSorted());
});
