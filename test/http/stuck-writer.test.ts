/** Writes while the store cannot write, because another program has locked it. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { until } from "../until.ts";
import { openBelow } from "./below.ts";
import { type Answer, type Request, type Service, type ServiceOptions, startService } from "./service.ts";
import { isOnPostgres } from "./test-store.ts";

const id = "0199e7b2-3c4d-7abc-8def-0123456789ab";

async function startStuck(t: TestContext, { collections = {} }: Pick<ServiceOptions, "collections"> = {}) {
  const service = await startService({
    collections: { things: {}, ...collections },
    openCollections: true,
    seeds: { things: [{ id, n: 0 }] },
    limits: { handlerTimeoutMs: 500 },
  });
  t.after(() => service.stop());
  return { service, ...(await stick(service)) };
}

/** Locks the store against writes. The store waits for seconds for the lock. */
async function stick({ store }: Service): Promise<{ release(): Promise<void> }> {
  const other = await openBelow(store);
  await other.hold();
  return {
    async release() {
      await other.letGo();
      await other.close();
    },
  };
}

const create = (service: Service, collection: string): Promise<Answer> =>
  service.send({ method: "POST", path: `/api/v1/${collection}`, content: {} }, { mayFail: true });

/** Asks until it is done: on a busy machine a write may take longer than it may here. */
async function untilDone(ask: () => Promise<Answer>, status: number): Promise<Answer> {
  let answer: Answer | undefined;
  await until("it is done", async () => {
    answer = await ask();
    return answer.status === status;
  });
  return answer as Answer;
}

function codeOf({ status, headers, json }: Answer): string {
  assert.equal(status, 503);
  assert.equal(headers["retry-after"], "1");
  return (json as { code: string }).code;
}

test("a create in a new collection is refused in time, and those that wait behind it as well", async (t) => {
  const { service, release } = await startStuck(t);
  const answers = await Promise.all(["a", "a", "b", "c", "d"].map((name) => create(service, name)));
  assert.deepEqual(
    answers.map(codeOf),
    answers.map(() => "UNAVAILABLE"),
  );
  await release();
  await untilDone(() => create(service, "a"), 201);
});

test("a create in a collection of integers is refused in time", async (t) => {
  const collections = { numbers: { id: "integer" } } as const;
  const { service, release } = await startStuck(t, { collections });
  // PostgreSQL gives the id, so the commit has not begun. The writer of SQLite counts in memory, so only the commit waits.
  const expected = isOnPostgres ? "UNAVAILABLE" : "OUTCOME_UNKNOWN";
  assert.equal(codeOf(await create(service, "numbers")), expected);
  await release();
  await untilDone(() => create(service, "numbers"), 201);
});

test("of the writes to one resource that is stuck, those that did not begin wrote nothing, and say so", async (t) => {
  const { service, release } = await startStuck(t);
  const path = `/api/v1/things/${id}`;
  const patch = (attribute: string): Request => ({
    method: "PATCH",
    path,
    headers: { "Content-Type": "application/merge-patch+json" },
    body: JSON.stringify({ [attribute]: 1 }),
  });
  const batch = (attribute: string): Request => {
    const operations = [{ method: "PATCH", path: `/things/${id}`, body: { [attribute]: 1 } }];
    return { method: "POST", path: "/api/v1/_batch", content: { operations } };
  };
  /** The codes of the writes, by the attributes that they write. */
  const codes = new Map<string, string>();
  let round = 0;
  // A patch after a delete has no state to follow, so it waits. On a busy machine the requests can arrive in another order.
  await until("writes began, and patches waited behind them", async () => {
    round++;
    const [first, second, third, fourth] = [`a${round}`, `b${round}`, `c${round}`, `d${round}`];
    const requests: [string, Request][] = [
      [first, patch(first)],
      [second, batch(second)],
      ["none", { method: "DELETE", path }],
      [third, patch(third)],
      [fourth, patch(fourth)],
    ];
    const send = async ([name, request]: [string, Request]) => {
      codes.set(name, codeOf(await service.send(request, { mayFail: true })));
    };
    await Promise.all(requests.map(send));
    const isLate = (name: string) => codes.get(name) === "UNAVAILABLE";
    return !isLate(first) && !isLate(second) && isLate(third) && isLate(fourth);
  });
  for (const code of codes.values()) assert.match(code, /^(?:OUTCOME_UNKNOWN|UNAVAILABLE)$/);
  await release();
  await untilDone(() => create(service, "things"), 201);
  const changes = (await service.send({ path: `${path}/_changes` })).json as { version: number }[];
  const written: string[] = [];
  for (const { version } of changes) {
    const { json } = await service.send({ path: `${path}?version=${version}` });
    written.push(...Object.keys(json as object));
  }
  for (const [name, code] of codes)
    if (code === "UNAVAILABLE") assert.ok(!written.includes(name), `${name} was written`);
});
