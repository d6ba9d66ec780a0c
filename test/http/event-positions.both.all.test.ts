/** Positions: an invalid one is refused, and one that the log no longer has is gone. There is never a silent gap. */
import assert from "node:assert/strict";
import { cp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { openStore, type StoreAddress } from "../../src/store/open.ts";
import { logStart } from "../../src/store/port/log-place.ts";
import { copy } from "../copy/run.ts";
import { makeFolder } from "../folder.ts";
import { query } from "../postgres/databases.ts";
import { until } from "../until.ts";
import { check } from "./check.ts";
import { eventsOf, follow, linkOf, sinceOf } from "./follow.ts";
import { type Service, type ServiceOptions, startService } from "./service.ts";
import { isOnPostgres, openTestStore } from "./test-store.ts";

const path = "/api/v1/topics/_events";

/** A store that outlives the services on it. */
async function makeStore(t: TestContext): Promise<StoreAddress> {
  const folder = makeFolder();
  const { address, release } = await openTestStore(folder);
  t.after(release);
  return address;
}

/** Runs a service on a store while something is done with it. */
async function serving<T>(
  store: StoreAddress,
  work: (service: Service) => Promise<T>,
  options: ServiceOptions = {},
): Promise<T> {
  const service = await startService({ store, ...options });
  try {
    return await work(service);
  } finally {
    await service.stop();
  }
}

const positionNow = async (service: Service, target = path) =>
  sinceOf(
    linkOf(await service.send({ path: `${target}${target.includes("?") ? "&" : "?"}since=now` }), "next"),
  );

/** Creates two topics, and returns the position between them. */
async function createAfterPosition(service: Service): Promise<string> {
  await service.create("topics", { n: 0 });
  const now = await positionNow(service);
  await service.create("topics", { n: 1 });
  return now;
}

/** Checks a position that is gone: a page responds 410, and a stream sends one event and continues from now. */
async function isGone(service: Service, since: string, reason: RegExp): Promise<void> {
  for (const request of [
    { path: `${path}?since=${since}` },
    { path, headers: { "last-event-id": since } },
    { path: `${path}?since=${since}&wait=60` },
  ]) {
    const answer = await service.send(request);
    check(answer, { status: 410, problem: "POSITION_GONE", headers: { "Cache-Control": "no-store" } });
    assert.match(answer.text, /List the resources again/);
    assert.match(answer.text, reason);
  }
  const stream = await follow(service, path, { "last-event-id": since });
  const [resync] = await stream.take(1);
  assert.equal(stream.status, 200);
  assert.deepEqual(
    [resync?.specversion, resync?.type, resync?.datacontenttype],
    ["1.0", "holdfast.resync", "application/json"],
  );
  assert.match(String(resync?.data.reason), reason);
  const { id } = await service.create("topics", { after: "resync" });
  const events = await stream.take(2);
  assert.deepEqual([events.length, events[1]?.subject], [2, id]);
  stream.close();
}

/** The events from the start on are those that a list and its link lead to, and never gone. */
async function startWorks(service: Service, versions: number[]): Promise<void> {
  const first = await service.send({ path: `${path}?since=start` });
  assert.deepEqual(
    eventsOf(first).map(({ data }) => data.n),
    versions,
  );
  assert.deepEqual(eventsOf(await service.send({ path: linkOf(first, "next") })), []);
  const list = await service.send({ path: "/api/v1/topics" });
  assert.deepEqual(eventsOf(await service.send({ path: linkOf(list, "monitor") })), []);
  const stream = await follow(service, `${path}?since=start`);
  await stream.take(versions.length);
  assert.deepEqual(
    stream.events().map(({ data }) => data.n),
    versions,
  );
  stream.close();
}

test("a position with another character anywhere is refused, and so is one that is cut or longer", async (t) => {
  await serving(await makeStore(t), async (service) => {
    await service.create("topics", { n: 0 });
    const position = await positionNow(service);
    assert.match(position, /^[\w-]{32}$/);
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const wrong = [...position].flatMap((character, at) =>
      [...alphabet, "=", "%20", "~"]
        .filter((other, n) => other !== character && n % 8 === at % 8) // in eight places, each character once
        .map((other) => position.slice(0, at) + other + position.slice(at + 1)),
    );
    wrong.push(
      "x",
      "1",
      position.slice(1),
      position.slice(0, -1),
      `${position}A`,
      `${position}=`,
      position.repeat(2),
    );
    for (const since of wrong) {
      const answer = await service.send({ path: `${path}?since=${since}` });
      if (answer.status !== 400) assert.fail(`${since} is taken: ${answer.status}`);
    }
    const answer = await service.send({ path: `${path}?since=${position.slice(1)}` });
    check(answer, {
      status: 400,
      problem: "INVALID_CURSOR",
      violations: [{ in: "query", name: "since" }],
      headers: { "Cache-Control": "no-store" },
    });
    const stream = await follow(service, path, { "last-event-id": position.slice(1) });
    assert.equal(stream.status, 400, "also for a stream");
    stream.close();
    const named = await service.send({ path: `${path}?lastEventId=x&since=now` });
    check(named, {
      status: 400,
      problem: "INVALID_CURSOR",
      violations: [{ in: "query", name: "lastEventId" }],
      headers: { "Cache-Control": "no-store" },
    });
    const inHeader = await service.send({ path, headers: { "Last-Event-ID": "x" } });
    check(inHeader, {
      status: 400,
      problem: "INVALID_CURSOR",
      violations: [{ in: "header", name: "Last-Event-ID" }],
      headers: { "Cache-Control": "no-store" },
    });
  });
});

test("a position belongs to its own collections, and the id of an event is not a position", async (t) => {
  await serving(await makeStore(t), async (service) => {
    await service.create("topics", { n: 0 });
    await service.create("users", { n: 0 });
    const both = "/api/v1/_events?collection=topics,users";
    const ofTopics = await positionNow(service);
    const ofBoth = await positionNow(service, both);
    const [event] = eventsOf(await service.send({ path }));
    for (const target of [
      `/api/v1/users/_events?since=${ofTopics}`,
      `${path}?since=${ofBoth}`,
      `${both}&since=${ofTopics}`,
      `/api/v1/_events?collection=users&since=${ofTopics}`,
      `${path}?since=${event?.id}`,
    ]) {
      const answer = await service.send({ path: target });
      check(answer, { status: 400, problem: "INVALID_CURSOR", headers: { "Cache-Control": "no-store" } });
      assert.match(answer.text, /The \\"id\\" in an event is not a position/);
    }
    const turned = `/api/v1/_events?collection=users,topics&since=${ofBoth}`;
    assert.equal((await service.send({ path: turned })).status, 200, "the order of names does not matter");
    assert.equal((await service.send({ path: `${path}?since=${ofTopics}&n=0&fields=n` })).status, 200);
  });
});

test("a position outlives a restart", async (t) => {
  const store = await makeStore(t);
  const position = await serving(store, createAfterPosition);
  await serving(store, async (service) => {
    const answer = await service.send({ path: `${path}?since=${position}` });
    assert.deepEqual(
      eventsOf(answer).map(({ data }) => data.n),
      [1],
    );
  });
});

test("a position of another store is gone", async (t) => {
  const position = await serving(await makeStore(t), async (service) => {
    await service.create("topics", { n: 0 });
    return positionNow(service);
  });
  await serving(await makeStore(t), async (service) => {
    await service.create("topics", { n: 0 });
    await isGone(service, position, /another store/);
  });
});

test("a position of a file that was replaced by an older copy of it is gone", {
  skip: isOnPostgres && "restores a file",
}, async (t) => {
  const store = await makeStore(t);
  if (store.kind !== "sqlite") return;
  await serving(store, (service) => service.create("topics", { n: 0 }));
  const folder = join(store.path, "..");
  const saved = makeFolder();
  await cp(folder, saved, { recursive: true });
  const [beyond, there] = await serving(store, async (service) => {
    await service.create("topics", { n: 1 });
    const second = await positionNow(service);
    await service.create("topics", { n: 2 });
    return [await positionNow(service), second];
  });
  for (const name of await readdir(folder)) await rm(join(folder, name));
  await cp(saved, folder, { recursive: true });
  await serving(store, async (service) => {
    await isGone(service, beyond, /another history/);
    // Now the place of the position has another change.
    await isGone(service, there, /another history/);
  });
});

test("a position continues on a copy of the store, unless the copy has a new identity", async (t) => {
  const store = await makeStore(t);
  const position = await serving(store, createAfterPosition);
  const [same, other] = [await makeStore(t), await makeStore(t)];
  await copy(store, same);
  await copy(store, other, { newIdentity: true });
  await serving(same, async (service) => {
    const answer = await service.send({ path: `${path}?since=${position}` });
    assert.deepEqual(
      eventsOf(answer).map(({ data }) => data.n),
      [1],
    );
  });
  await serving(other, (service) => isGone(service, position, /another store/));
});

test("after a resource was erased, older positions are gone, and start begins behind it", async (t) => {
  const store = await makeStore(t);
  const [first, last, id] = await serving(store, async (service) => {
    const made = await service.create("topics", { n: 0 });
    const before = await positionNow(service);
    await service.create("topics", { n: 1 });
    return [before, await positionNow(service), made.id];
  });
  const opened = await openStore(store);
  await opened.erase({ collection: "topics", id });
  await opened.close();
  await serving(store, async (service) => {
    await startWorks(service, []);
    for (const since of [first, last]) await isGone(service, since, /erased/);
    const answer = await service.send({ path: `${path}?since=start` });
    assert.ok(eventsOf(answer).every(({ data }) => data.after === "resync"));
  });
});

test("after the erase of a resource that was deleted before, positions are gone, too", async (t) => {
  const store = await makeStore(t);
  const [last, id] = await serving(store, async (service) => {
    const made = await service.create("topics", { n: 0 });
    await service.send({ method: "DELETE", path: made.path });
    return [await positionNow(service), made.id];
  });
  const opened = await openStore(store);
  await opened.erase({ collection: "topics", id });
  await opened.close();
  await serving(store, async (service) => {
    await startWorks(service, []);
    await isGone(service, last, /erased/);
  });
});

test("after a time without history, older positions are gone, and start begins behind it", async (t) => {
  const store = await makeStore(t);
  const position = await serving(store, async (service) => {
    await service.create("topics", { n: 0 });
    return positionNow(service);
  });
  await serving(store, (service) => service.create("topics", { n: 1 }), { history: "none" });
  await serving(store, async (service) => {
    await startWorks(service, []);
    await service.create("topics", { n: 2 });
    await startWorks(service, [2]);
    await isGone(service, position, /without history/);
  });
  await serving(store, (service) => service.create("topics", { n: 3 }), { history: "none" });
  await serving(store, async (service) => {
    await service.create("topics", { n: 4 });
    await startWorks(service, [4]);
  });
});

test("a position whose changes are no longer kept is gone, and start begins with those that are", async (t) => {
  const store = await makeStore(t);
  const [old, kept] = await serving(store, async (service) => {
    await service.create("topics", { n: 0 });
    const first = await positionNow(service);
    for (const n of [1, 2]) await service.create("topics", { n });
    const second = await positionNow(service);
    await service.create("topics", { n: 3 });
    return [first, second];
  });
  await removeUpTo(store, 2);
  await serving(store, async (service) => {
    await startWorks(service, [2, 3]);
    const answer = await service.send({ path: `${path}?since=${kept}` });
    assert.deepEqual(
      eventsOf(answer).map(({ data }) => data.n),
      [3],
    );
    await isGone(service, old, /no longer kept/);
  });
});

/** Removes changes as the sweep of the history does. */
async function removeUpTo(store: StoreAddress, sequence: number): Promise<void> {
  if (store.kind === "postgres") {
    await query(store.url, `delete from holdfast_changes_1 where sequence <= ${sequence}`);
    return;
  }
  const database = new DatabaseSync(store.path);
  database.exec(`delete from changes_1 where sequence <= ${sequence}`);
  database.close();
}

test("a stream whose place is removed while it is open sends a resync and goes on", async (t) => {
  const store = await makeStore(t);
  await serving(store, async (service) => {
    const pad = "x".repeat(900_000);
    const stream = await follow(service, path);
    await until("it has begun", () => stream.frames().length > 0);
    await service.create("topics", { n: 0, pad });
    await stream.take(1);
    if (store.kind !== "postgres") return stream.close(); // erases only when it is stopped
    const other = await openStore(store);
    const [change] = (await other.changesAfter("topics", logStart, 1)).changes;
    await other.erase({ collection: "topics", id: String(change?.id) });
    await other.close();
    const events = await stream.take(2);
    assert.equal(events[1]?.type, "holdfast.resync");
    await service.create("topics", { n: 1 });
    assert.equal((await stream.take(3))[2]?.data.n, 1);
    stream.close();
  });
});

test("a read-only service has the feed, and a read-only service on a store without the collection does, too", async (t) => {
  const store = await makeStore(t);
  const collections = { topics: {} };
  const position = await serving(
    store,
    async (service) => {
      const now = await positionNow(service);
      await service.create("topics", { n: 0 });
      return now;
    },
    { collections },
  );
  await serving(
    store,
    async (service) => {
      assert.equal(eventsOf(await service.send({ path: `${path}?since=${position}` })).length, 1);
      const stream = await follow(service, `${path}?since=start`);
      assert.equal((await stream.take(1))[0]?.data.n, 0);
      stream.close();
    },
    { collections, readOnly: true },
  );
});
