/** The reads of a list from the store, observed between the service and its store. */
import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { pino } from "pino";
import { createTags } from "../../src/access/tags.ts";
import { openCollection } from "../../src/collection/collection.ts";
import { nothingExpires } from "../../src/expiry/expired.ts";
import { startCounting } from "../../src/http/admission/exact-counts.ts";
import { closeServer, createHttpServer } from "../../src/http/wire/http-server.ts";
import { createKeyedQueue } from "../../src/store/core/keyed-queue.ts";
import { createTurnBudget } from "../../src/store/core/turn-budget.ts";
import { openStore } from "../../src/store/open.ts";
import type { ListQuery, Page } from "../../src/store/port/page.ts";
import { recordOf } from "../../src/store/port/record.ts";
import type { Store } from "../../src/store/port/store.ts";
import { makeFolder } from "../folder.ts";
import { machineTime, until } from "../until.ts";
import { openConnection, parseAnswers } from "./connection.ts";
import { endpointTable } from "./endpoint-table.ts";
import { plainSettings } from "./plain-settings.ts";

interface Watched {
  port: number;
  /** Every list that the store was asked for. */
  queries: ListQuery[];
  /** Lines of the log. */
  logged: string[];
  /** How many connections are open. */
  connections(): number;
}

/** A service whose store's lists go through `list`. */
async function startWatched(
  t: TestContext,
  list: (query: ListQuery, store: Store) => Promise<Page>,
): Promise<Watched> {
  const folder = makeFolder();
  const turnBudget = createTurnBudget();
  const store = await openStore(
    { kind: "sqlite", path: join(folder, "store.db") },
    { answersPerTurn: turnBudget.perTurn, queryMs: 2_000, onFailure: () => {} },
  );
  t.after(() => store.close());
  await store.migrate([recordOf(openCollection("things"))]);
  await store.commit({
    changes: [{ key: { collection: "things", id: "a" }, expect: "absent", next: '{"id":"a","n":1}' }],
    at: 1,
  });
  const queries: ListQuery[] = [];
  const logged: string[] = [];
  const watched = new Proxy(store, {
    get(target, name) {
      if (name === "list") {
        return (query: ListQuery) => {
          queries.push(query);
          return list(query, store);
        };
      }
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
  const server = createHttpServer(
    {
      store: watched,
      load: (...args) => watched.load(...args),
      exclusively: (...args) => watched.exclusively(...args),
      collections: () => new Map([["things", openCollection("things")]]),
      expired: nothingExpires,
      participants: new Map(),
      failing: () => [],
      openCollections: false,
      endpoints: endpointTable,
      configuration: { file: undefined, options: [] },
      settings: { ...plainSettings, hasFeed: false },
      isEmbedded: false,
      publicUrl: undefined,
      isObserved: false,
      readOnly: false,
      writes: createKeyedQueue({ maxWaitMs: 1_000 }),
      keysInProgress: new Map(),
      ...startCounting(plainSettings),
      turnBudget,
      newUuid: () => "b",
      now: machineTime,
      elapsed: () => performance.now(),
      log: pino({ level: "info" }, { write: (line: string) => void logged.push(line) }),
      isDraining: () => false,
      hasStarted: () => true,
      isOwnHost: () => true,
      configurationHash: "x",
      tags: createTags(() => Buffer.alloc(1)),
    },
    { logRequests: false },
  );
  let connections = 0;
  server.on("connection", (socket) => {
    connections++;
    socket.on("close", () => connections--); // after the service has heard of it
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => closeServer(server));
  const { port } = server.address() as AddressInfo;
  return { port, queries, logged, connections: () => connections };
}

function get(
  port: number,
  path: string,
  headers: Record<string, string> = {},
  localAddress = "127.0.0.1",
): Promise<number | undefined> {
  const options = { host: "127.0.0.1", port, path, headers, localAddress, agent: false };
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(options, (incoming) => {
      incoming.resume().on("end", () => resolve(incoming.statusCode));
    });
    outgoing.on("error", reject).end();
  });
}

test("a list that takes long is told when its client goes away, and nothing is logged", async (t) => {
  const asked = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<unknown>();
  const { port, logged } = await startWatched(t, ({ client }) => {
    asked.resolve();
    return new Promise((_, reject) => {
      const signal = client?.().signal;
      assert.ok(signal !== undefined && !signal.aborted);
      signal.addEventListener("abort", () => {
        ended.resolve(signal.reason);
        reject(signal.reason);
      });
    });
  });
  const outgoing = httpRequest({ host: "127.0.0.1", port, path: "/api/v1/things?n=1" });
  outgoing.on("error", () => {});
  outgoing.end();
  await asked.promise;
  outgoing.destroy();
  assert.equal(((await ended.promise) as { code: string }).code, "INVALID_REQUEST");
  await new Promise(setImmediate);
  assert.deepEqual(logged, []);
});

test("a list that takes long stops when its client closes the sending side, and the client gets an answer", async (t) => {
  const asked = Promise.withResolvers<void>();
  const { port } = await startWatched(t, ({ client }) => {
    asked.resolve();
    return new Promise((_, reject) => {
      const signal = client?.().signal;
      signal?.addEventListener("abort", () => reject(signal.reason));
    });
  });
  const connection = await openConnection(port);
  connection.write("GET /api/v1/things?n=1 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await asked.promise;
  connection.end();
  const [answer] = parseAnswers(await connection.untilClosed());
  assert.deepEqual([answer?.status, JSON.parse(answer?.body ?? "").code], [400, "INVALID_REQUEST"]);
});

test("a list that is answered leaves nothing behind on its connection", async (t) => {
  const signals: (AbortSignal | undefined)[] = [];
  const { port, connections } = await startWatched(t, (query, store) => {
    signals.push(query.client?.().signal);
    return store.list(query);
  });
  assert.equal(await get(port, "/api/v1/things?n=1"), 200);
  await until("the connection is closed", () => connections() === 0);
  assert.equal(signals[0]?.aborted, false);
});

test("without credentials, lists from one address are of one caller, and those from another address are not", async (t) => {
  const callers: (string | undefined)[] = [];
  const { port } = await startWatched(t, (query, store) => {
    callers.push(query.client?.().caller);
    return store.list(query);
  });
  for (const address of ["127.0.0.1", "127.0.0.2", "127.0.0.1"])
    assert.equal(await get(port, "/api/v1/things?n=1", {}, address), 200);
  const [first, second, third] = callers;
  assert.ok(first !== undefined && second !== undefined);
  assert.notEqual(first, second);
  assert.equal(first, third);
});

test("a page in order of ids needs no turn and no signal", async (t) => {
  const { port, queries } = await startWatched(t, (query, store) => store.list(query));
  for (const query of ["", "?limit=5", "?count=exact", "?offset=0", "?fields=n&envelope=true"])
    assert.equal(await get(port, `/api/v1/things${query}`), 200);
  assert.deepEqual(
    queries.map(({ client }) => client),
    queries.map(() => undefined),
  );
});

test("counts are asked for where somebody wants them alone", async (t) => {
  const { port, queries } = await startWatched(t, (query, store) => store.list(query));
  const counted = ["n=1&count=exact", "n=1&offset=0", "n=1&_start=0&_end=5", "n=1&range=[0,4]"];
  const uncounted = ["n=1", "n=1&limit=5", "n=1&count=none", "n=1&offset=0&count=none", "sort=n"];
  for (const query of [...counted, ...uncounted])
    assert.equal(await get(port, `/api/v1/things?${query}`), 200, query);
  assert.deepEqual(
    queries.map(({ count = false }) => count),
    [...counted.map(() => true), ...uncounted.map(() => false)],
  );
});

test("nothing is searched for a client that has the list already", async (t) => {
  const { port, queries } = await startWatched(t, (query, store) => store.list(query));
  assert.equal(await get(port, "/api/v1/things?n=1", { "If-None-Match": 'W/"1-x"' }), 304);
  assert.deepEqual(queries, [{ collection: "things", limit: 1 }]);
  assert.equal(await get(port, "/api/v1/things?n=1", { "If-None-Match": 'W/"0-x"' }), 200);
  assert.equal(queries.length, 3);
});
