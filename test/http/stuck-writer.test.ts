/** Writes while the store cannot write, because another program has locked it. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { until } from "../until.ts";
import { openBelow } from "./below.ts";
import { type Answer, type Service, type ServiceOptions, startService } from "./service.ts";
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
  const patch = (n: number) => ({
    method: "PATCH",
    path: `/api/v1/things/${id}`,
    headers: { "Content-Type": "application/merge-patch+json" },
    body: JSON.stringify({ [`n${n}`]: n }),
  });
  const operations = [{ method: "PATCH", path: `/things/${id}`, body: { n2: 2 } }];
  const batch = { method: "POST", path: "/api/v1/_batch", content: { operations } };
  const path = `/api/v1/things/${id}`;
  // The store has the first three. A patch after a delete has no state to follow, so the patches wait, one after the other.
  const requests = [patch(1), batch, { method: "DELETE", path }, patch(3), patch(4)];
  const codes = (await Promise.all(requests.map((each) => service.send(each, { mayFail: true })))).map(
    codeOf,
  );
  const [unknown, unavailable] = ["OUTCOME_UNKNOWN", "UNAVAILABLE"];
  assert.deepEqual(codes, [unknown, unknown, unknown, unavailable, unavailable]);
  await release();
  await untilDone(() => create(service, "things"), 201);
  const changes = (await service.send({ path: `${path}/_changes` })).json as { version: number }[];
  for (const { version } of changes) {
    const { text } = await service.send({ path: `${path}?version=${version}` });
    assert.doesNotMatch(text, /"n[34]"/);
  }
});
