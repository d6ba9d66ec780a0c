/** Whatever a batch holds: it is applied as a whole or not at all, as one operation after the other would be. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import * as fc from "fast-check";
import { type Answer, type Service, startService } from "./service.ts";

interface Kept {
  version: number;
  attributes: Record<string, unknown>;
}

/** The expected resources of the collection, by id. */
type Model = Map<string, Kept>;

/** `target` is a place among the resources that there are, or among those that the batch has created before. */
interface Step {
  kind: "create" | "replace" | "patch" | "delete";
  target: number;
  fromBatch: boolean;
  ifMatch: "none" | "right" | "wrong";
  attributes: Record<string, unknown>;
  isBad: boolean;
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    kind: fc.constantFrom("create", "create", "replace", "patch", "patch", "delete"),
    target: fc.nat(7),
    fromBatch: fc.boolean(),
    ifMatch: fc.constantFrom(
      ...Array.from({ length: 9 }, () => "none" as const),
      ...Array.from({ length: 9 }, () => "right" as const),
      "wrong",
    ),
    attributes: fc.dictionary(fc.constantFrom("a", "b", "c"), fc.integer()),
    isBad: fc.nat(39).map((n) => n === 0),
  }),
  { maxLength: 10 },
);

const start: Step[] = Array.from({ length: 4 }, (_, n) => ({
  kind: "create",
  target: 0,
  fromBatch: false,
  ifMatch: "none",
  attributes: { a: n },
  isBad: false,
}));

/** A batch that is refused in every state: its resource has another version. */
const refused: Step[] = start.slice(0, 1).map((step) => ({ ...step, kind: "patch", ifMatch: "wrong" }));

let service: Service;

before(async () => {
  service = await startService();
});

after(() => service.stop());

function sendBatch(operations: unknown[]): Promise<Answer> {
  return service.send({ method: "POST", path: "/api/v1/_batch", content: { operations } });
}

/** The batch, and the result of the model: the state after it, or the operation that fails. */
interface Plan {
  operations: Record<string, unknown>[];
  /** The operations, with names of new resources in place of unknown ids. */
  next: Model;
  failure: { operation: number; status: number } | undefined;
}

function planOf(steps: readonly Step[], model: Model, collection: string): Plan {
  const next: Model = new Map([...model].map(([id, kept]) => [id, { ...kept }]));
  const touched = new Set<string>();
  const created: string[] = [];
  const operations: Record<string, unknown>[] = [];
  let failure: Plan["failure"];
  const fail = (status: number) => {
    failure ??= { operation: operations.length, status };
  };
  for (const step of steps) {
    if (step.kind === "create") {
      const name = `n${created.length}`;
      if (step.isBad) fail(400);
      created.push(name);
      next.set(`$${name}`, { version: 1, attributes: step.attributes });
      touched.add(`$${name}`);
      operations.push({
        method: "POST",
        path: `/${collection}`,
        body: step.isBad ? [] : step.attributes,
        as: name,
      });
      continue;
    }
    const names =
      step.fromBatch && created.length > 0 ? created.map((name) => `$${name}`) : [...model.keys()];
    const id = names[step.target % Math.max(1, names.length)] ?? "missing";
    const kept = next.get(id);
    const headers: Record<string, string> = {};
    if (step.ifMatch !== "none")
      headers["If-Match"] = `"${(kept?.version ?? 1) + (step.ifMatch === "wrong" ? 1 : 0)}"`;
    const isReplace = step.kind === "replace";
    // A replacement needs the id. A bad replacement has the id of another resource.
    const body = { ...(isReplace ? { id: step.isBad ? "other" : idOf(id) } : {}), ...step.attributes };
    if (kept === undefined) fail(400);
    else if (step.ifMatch === "wrong") fail(412);
    else if (step.isBad && step.kind !== "delete") fail(400);
    operations.push({
      method: { replace: "PUT", patch: "PATCH", delete: "DELETE" }[step.kind],
      path: `/${collection}/${id}`,
      headers,
      ...(step.kind === "delete" ? {} : { body: step.isBad ? (isReplace ? body : [1]) : body }),
    });
    if (kept === undefined || failure !== undefined) continue;
    if (step.kind === "delete") next.delete(id);
    else {
      const attributes = isReplace ? step.attributes : { ...kept.attributes, ...step.attributes };
      const isSame = JSON.stringify(sorted(attributes)) === JSON.stringify(sorted(kept.attributes));
      const isTextSame = isSame && Object.keys(attributes).join() === Object.keys(kept.attributes).join();
      const version = touched.has(id) || isTextSame ? kept.version : kept.version + 1;
      if (!isTextSame) touched.add(id);
      next.set(id, { version, attributes });
    }
  }
  return { operations, next, failure };
}

function idOf(id: string): unknown {
  return id.startsWith("$") ? { $ref: id.slice(1) } : id;
}

function sorted(attributes: Record<string, unknown>): [string, unknown][] {
  return Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The collection as the service shows it. */
async function stateOf(collection: string): Promise<{ model: Model; etag: string | undefined }> {
  const answer = await service.send({ path: `/api/v1/${collection}?limit=1000` });
  const model: Model = new Map();
  for (const { id, ...attributes } of answer.json as Record<string, unknown>[]) {
    const { etag } = (await service.send({ path: `/api/v1/${collection}/${String(id)}` })).headers;
    model.set(String(id), { version: Number(etag?.slice(1, -1)), attributes });
  }
  return { model, etag: answer.headers.etag };
}

function withIds(next: Model, results: { headers: Record<string, string> }[], plan: Plan): Model {
  const ids = new Map<string, string>();
  for (const [index, { as }] of plan.operations.entries()) {
    if (as !== undefined)
      ids.set(`$${String(as)}`, results[index]?.headers.Location?.split("/").at(-1) ?? "");
  }
  return new Map([...next].map(([id, kept]) => [ids.get(id) ?? id, kept]));
}

function comparable(model: Model): unknown[] {
  return [...model]
    .map(([id, { version, attributes }]) => [id, version, sorted(attributes)])
    .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
}

describe("any batch", () => {
  test("is applied as a whole, as its operations one by one would be, or leaves everything as it was", async () => {
    let runs = 0;
    let refusals = 0;
    let successes = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 1, maxLength: 4 }), async (batches) => {
        const collection = `things${runs++}`;
        let { model, etag } = await stateOf(collection);
        for (const each of [start, refused, ...batches]) {
          const plan = planOf(each, model, collection);
          const answer = await sendBatch(plan.operations);
          const after = await stateOf(collection);
          if (plan.failure !== undefined) {
            const problem = answer.json as { operation: number };
            const { operation } = plan.failure;
            assert.deepEqual(
              [answer.status, problem.operation],
              [plan.failure.status, operation],
              answer.text,
            );
            assert.equal(after.etag, etag, "nothing is in the change log");
            assert.deepEqual(comparable(after.model), comparable(model));
            refusals++;
          } else {
            assert.equal(answer.status, 200, answer.text);
            const { results } = answer.json as { results: { headers: Record<string, string> }[] };
            assert.deepEqual(comparable(after.model), comparable(withIds(plan.next, results, plan)));
            successes++;
          }
          ({ model, etag } = after);
        }
      }),
      { numRuns: 150 },
    );
    assert.ok(refusals > 30 && successes > 100, `${refusals} refused, ${successes} not`);
  });
});

describe("batches and other writes at the same time", () => {
  test("lose nothing: each batch is there as a whole or not at all", async () => {
    const accounts = await Promise.all(
      Array.from({ length: 4 }, () => service.create("accounts", { moves: 0 })),
    );
    let successes = 0;
    let lost = 0;
    const read = async (account: { path: string }) => {
      const answer = await service.send({ path: account.path });
      return { etag: String(answer.headers.etag), moves: Number((answer.json as { moves: number }).moves) };
    };
    const move = async (n: number) => {
      const [from, to] = [accounts[n % 4], accounts[(n * 3 + 1) % 4]];
      if (from === undefined || to === undefined || from === to) return;
      const change = async (account: { id: string; path: string }) => {
        const { etag, moves } = await read(account);
        const headers = { "If-Match": etag };
        return { method: "PATCH", path: `/accounts/${account.id}`, headers, body: { moves: moves + 1 } };
      };
      const log = { method: "POST", path: "/logs", body: { from: from.id, to: to.id } };
      const answer = await sendBatch([log, await change(from), await change(to), log]);
      if (answer.status === 200) successes++;
      else {
        assert.equal(answer.status, 412, answer.text);
        lost++;
      }
    };
    const mover = async (offset: number) => {
      for (let n = 0; n < 20; n++) await move(n * 5 + offset);
    };
    const single = async (name: string) => {
      for (let n = 1; n <= 30; n++) {
        const path = accounts[n % 4]?.path ?? "";
        const answer = await service.send({ method: "PATCH", path, content: { [name]: n } });
        assert.equal(answer.status, 200, answer.text);
      }
    };
    await Promise.all([mover(0), mover(1), mover(2), mover(3), single("x"), single("y")]);
    assert.ok(successes > 0 && lost > 0, `${successes} successes, ${lost} lost`);
    const logs = (await service.send({ path: "/api/v1/logs?limit=1000" })).json as {
      from: string;
      to: string;
    }[];
    assert.equal(logs.length, successes * 2);
    for (const [index, { id, path }] of accounts.entries()) {
      const account = (await service.send({ path })).json as { moves: number; x: number; y: number };
      assert.equal(account.moves * 2, logs.filter(({ from, to }) => from === id || to === id).length);
      const last = index < 3 ? 28 + index : 27;
      assert.deepEqual([account.x, account.y], [last, last]);
    }
  });

  test("do not wait for each other for ever, whatever their order", async () => {
    const made = await Promise.all(Array.from({ length: 5 }, () => service.create("hot", { n: 0 })));
    const turn = (from: number) => made.map((_, n) => made[(n + from) % 5] as { id: string });
    const batches = Array.from({ length: 50 }, (_, n) => {
      const order = n % 2 === 0 ? turn(n) : turn(n).reverse();
      return sendBatch(
        order.map(({ id }) => ({ method: "PATCH", path: `/hot/${id}`, body: { [`b${n}`]: n } })),
      );
    });
    for (const answer of await Promise.all(batches)) assert.equal(answer.status, 200, answer.text);
    for (const { path } of made) {
      const answer = await service.send({ path });
      assert.equal(answer.headers.etag, '"51"');
      assert.equal(Object.keys(answer.json as object).length, 52);
    }
  });
});
