/** Writes while the store cannot write, because another program has locked it. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { until } from "../until.ts";
import { openBelow } from "./below.ts";
import { type Answer, type Request, type Service, type ServiceOptions, startFor } from "./service.ts";
import { watchCalls } from "./store-spy.ts";
import { isOnPostgres } from "./test-store.ts";

/** More than the rounds that a test needs on a busy machine. */
const ids = Array.from(
  { length: 100 },
  (_, i) => `0199e7b2-3c4d-7abc-8def-0123456789${i.toString(16).padStart(2, "0")}`,
);

async function startStuck(t: TestContext, { collections = {} }: Pick<ServiceOptions, "collections"> = {}) {
  const service = await startFor(t, {
    collections: { things: {}, ...collections },
    openCollections: true,
    seeds: { things: ids.map((id) => ({ id, n: 0 })) },
    limits: { handlerTimeoutMs: 500 },
  });
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
  // On a busy machine, even the id can come too late.
  const codes: string[] = [];
  await until(`a create has the outcome ${expected}`, async () => {
    codes.push(codeOf(await create(service, "numbers")));
    return codes.at(-1) === expected;
  });
  for (const code of codes) assert.match(code, /^(?:OUTCOME_UNKNOWN|UNAVAILABLE)$/);
  await release();
  await untilDone(() => create(service, "numbers"), 201);
  const written = (await service.send({ path: "/api/v1/numbers" })).json as unknown[];
  const possible = codes.filter((code) => code === "OUTCOME_UNKNOWN").length;
  assert.ok(written.length <= possible + 1, `${written.length} were written`);
});

test("of the writes to one resource that is stuck, those that did not begin wrote nothing, and say so", async (t) => {
  const { service, release } = await startStuck(t);
  const patch = (path: string, attribute: string): Request => ({
    method: "PATCH",
    path: `/api/v1${path}`,
    headers: { "Content-Type": "application/merge-patch+json" },
    body: JSON.stringify({ [attribute]: 1 }),
  });
  const batch = (path: string, attribute: string): Request => {
    const operations = [{ method: "PATCH", path, body: { [attribute]: 1 } }];
    return { method: "POST", path: "/api/v1/_batch", content: { operations } };
  };
  /** The codes of the writes, by the attributes that they write, for each resource. */
  const codesOf = new Map<string, Map<string, string>>();
  const calls = watchCalls(t);
  /** Sends a write, and waits until it has called the store, so that it comes before the next one. */
  const begin = async (send: () => Promise<void>) => {
    const before = calls.length;
    const done = send();
    await until("the write calls the store", () => calls.length > before);
    return { done };
  };
  // A patch after a delete has no state to follow, so it waits. On a busy machine it can come before the delete.
  await until("writes began, and patches waited behind them", async () => {
    const path = `/things/${ids[codesOf.size] ?? assert.fail("no resource is left")}`;
    const codes = new Map<string, string>();
    codesOf.set(path, codes);
    const send = async (name: string, request: Request) => {
      codes.set(name, codeOf(await service.send(request, { mayFail: true })));
    };
    const begun = [
      await begin(() => send("a", patch(path, "a"))),
      await begin(() => send("b", batch(path, "b"))),
      await begin(() => send("none", { method: "DELETE", path: `/api/v1${path}` })),
    ].map(({ done }) => done);
    await Promise.all([...begun, send("c", patch(path, "c")), send("d", patch(path, "d"))]);
    const isLate = (name: string) => codes.get(name) === "UNAVAILABLE";
    return !isLate("a") && !isLate("b") && isLate("c") && isLate("d");
  });
  await release();
  await untilDone(() => create(service, "things"), 201);
  for (const [path, codes] of codesOf) {
    const changes = (await service.send({ path: `/api/v1${path}/_changes` })).json as { version: number }[];
    const written: string[] = [];
    for (const { version } of changes) {
      const { json } = await service.send({ path: `/api/v1${path}?version=${version}` });
      written.push(...Object.keys(json as object));
    }
    for (const [name, code] of codes) {
      assert.match(code, /^(?:OUTCOME_UNKNOWN|UNAVAILABLE)$/);
      if (code === "UNAVAILABLE") assert.ok(!written.includes(name), `${name} of ${path} was written`);
    }
  }
});
