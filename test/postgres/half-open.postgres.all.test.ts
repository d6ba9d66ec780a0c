/** Half-open connections: bytes no longer arrive, and neither side gets an error. */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { Problem } from "../../src/errors.ts";
import { openReader, openStore, type StoreAddress } from "../../src/store/open.ts";
import { declaration } from "../store/contract/fixture.ts";
import { ceilingMs, machineTime, until } from "../until.ts";
import { databaseFor } from "./databases.ts";
import { type FaultProxy, startProxy } from "./fault-proxy.ts";
import { commit, countOf, create, serveFaulty } from "./served.ts";

const things = declaration("things");

async function openThings(t: TestContext): Promise<{ address: StoreAddress; proxy: FaultProxy }> {
  const url = await databaseFor(t);
  const proxy = await startProxy(Number(new URL(url).port));
  t.after(() => proxy.close());
  const address = { kind: "postgres", url: proxy.urlOf(url) } as const;
  const store = await openStore(address);
  await store.migrate([things]);
  const key = { collection: things.name, id: "1" };
  await store.commit({ changes: [{ key, expect: "absent", next: "{}" }], at: machineTime() });
  await store.close();
  return { address, proxy };
}

async function requireGivenUp(work: Promise<unknown>): Promise<void> {
  const ends: unknown[] = [];
  void work.catch((error: unknown) => error).then((value) => ends.push(value));
  await until("the work is given up", () => ends.length > 0);
  const [end] = ends;
  assert.ok(end instanceof Problem && end.code === "UNAVAILABLE", String(end));
}

// They wait more than they work.
describe("where bytes vanish", { concurrency: true }, () => {
  test("all is answered in time, and well as soon as bytes pass again", async (t) => {
    const service = await serveFaulty(t);
    const id = await create(service, 0);
    await Promise.all(Array.from({ length: 10 }, () => service.ask("GET", `things/${id}`)));
    service.proxy.swallow();
    const asked = [
      service.ask("GET", `things/${id}`),
      service.ask("GET", "things?n=7"),
      service.ask("PUT", `things/${id}`, { n: 1 }),
      service.ask("POST", "things", { n: 1 }),
      service.ask("POST", "things", { n: 2 }, { "idempotency-key": "vanished" }),
      service.ask("POST", "others", { n: 1 }),
    ];
    await until("requests are lost", () => service.proxy.swallowed > 0);
    assert.equal((await service.ask("GET", "/livez")).status, 200);
    for (const { status, ms } of await Promise.all(asked)) {
      assert.equal(status, 503);
      assert.ok(ms < ceilingMs, `${ms} ms`);
    }
    assert.equal((await service.ask("GET", "/readyz")).status, 503);
    service.proxy.heal();
    await create(service, 2, { "idempotency-key": "vanished" });
    await until("it is ready", async () => (await service.ask("GET", "/readyz")).status === 200);
    assert.equal(await countOf(service, "things?n=2"), 1);
    assert.equal((await service.ask("POST", "others", { n: 1 })).status, 201);
  });

  test("a commit whose bytes vanish is of unknown outcome, and the same key tells the truth", async (t) => {
    const service = await serveFaulty(t);
    await create(service, 0);
    const { proxy } = service;
    const swallowed = proxy.cutAt(commit, "vanish");
    const key = { "idempotency-key": "vanished" };
    const answer = await service.ask("POST", "things", { n: 1 }, key);
    await swallowed;
    assert.deepEqual([answer.status, answer.code], [503, "OUTCOME_UNKNOWN"]);
    assert.ok(answer.ms < ceilingMs, `${answer.ms} ms`);
    const vanished = proxy.swallowed;
    for (let n = 0; n < 5; n++) {
      const again = await service.ask("POST", "things", { n: 1 }, key);
      const read = await service.ask("GET", "things?sort=n&count=exact");
      assert.deepEqual([again.status, read.status], [201, 200]);
    }
    assert.equal(proxy.swallowed, vanished, "somebody was given that connection again");
    assert.equal(await countOf(service, "things"), 2);
  });

  test("what may take as long as it takes is given up when the database answers nobody", async (t) => {
    const { address, proxy } = await openThings(t);
    const [store, reader] = await Promise.all([openStore(address), openReader(address)]);
    const load = await store.load(things.name);
    const scans = [store, reader].map((each) => each.scan(things.name)[Symbol.asyncIterator]());
    for (const scan of scans) assert.equal((await scan.next()).done, false);
    proxy.swallow();
    await Promise.all([
      requireGivenUp(load.add([{ id: "2", text: "{}" }])),
      ...scans.map((scan) => requireGivenUp(scan.next())),
    ]);
    await load.cancel();
    await Promise.all([store.close(), reader.close()]);
  });
});
