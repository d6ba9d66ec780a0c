/** Lists as of a time: their responses, the callers who get them, and that other requests are not delayed. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { owner } from "../../src/access/access-declaration.ts";
import { machineTime } from "../until.ts";
import { auth, createAs, sendAs } from "./access/callers.ts";
import { check, links } from "./check.ts";
import { pagesFrom } from "./pages.ts";
import { type Answer, type Made, type Service, startFor, startService } from "./service.ts";

/** The clock of the services. Only `tick` moves it. */
let clock = machineTime();
const tick = () => (clock += 1_000);
const iso = (time: number) => new Date(time).toISOString();

const book = {
  type: "object",
  properties: {
    n: { type: "integer" },
    title: { type: "string", maxLength: 100 },
    status: { type: "string" },
    secret: { type: "string" },
    authorId: { type: "string" },
  },
};

type Resource = Record<string, unknown>;
const items = (answer: Answer): Resource[] => {
  assert.equal(answer.status, 200, answer.text);
  return answer.json as Resource[];
};

describe("a list as of a time", () => {
  let service: Service;
  let made: Made[];
  /** After six creates; after the changes; and after the deletes. */
  let created: number;
  let changed: number;
  /** The events since the creates. */
  let monitor: string | undefined;
  let ended: number;
  const path = "/api/v1/books";
  const get = (query: string, headers = {}) => service.send({ path: `${path}?${query}`, headers });
  const numbers = async (query: string) => items(await get(query)).map(({ n }) => n);

  before(async () => {
    service = await startService({
      now: () => clock,
      collections: { books: { id: "integer", schema: book, search: ["title"], indexes: ["n"] }, none: {} },
    });
    made = [];
    for (let n = 1; n <= 6; n++) {
      tick();
      made.push(await service.create("books", { n, status: n % 2 === 0 ? "open" : "done" }));
    }
    created = clock;
    monitor = links(await service.send({ path })).monitor;
    tick();
    for (const { path: target } of made.slice(0, 2))
      await service.send({ method: "PATCH", path: target, content: { n: 100, status: "late" } });
    changed = clock;
    tick();
    await service.send({ method: "DELETE", path: made[5]?.path ?? "" });
    await service.create("books", { n: 7 });
    ended = clock;
    tick();
  });
  after(() => service.stop());

  test("has the resources as they were, and no others", async () => {
    assert.deepEqual(
      items(await get(`at=${created}`)),
      made.map(({ body }) => body),
    );
    assert.deepEqual(await numbers(`at=${iso(changed)}`), [100, 100, 3, 4, 5, 6]);
    assert.deepEqual(await numbers(`at=${ended}`), [100, 100, 3, 4, 5, 7]);
    assert.deepEqual(await numbers("at=2999-01-01"), await numbers(""));
    assert.deepEqual(await numbers("at=2020-01-01"), []);
    assert.deepEqual(await numbers("at=-1"), []);
    assert.deepEqual(items(await service.send({ path: "/api/v1/none?at=0" })), []);
  });

  test("has filters, sorts, fields, pages, totals and formats", async () => {
    const at = `at=${created}`;
    assert.deepEqual(await numbers(`${at}&status=open&sort=-n`), [6, 4, 2]);
    assert.deepEqual(await numbers(`${at}&n:lte=2`), [1, 2]);
    assert.deepEqual(await numbers(`${at}&sort=-n&limit=2&offset=3`), [3, 2]);
    assert.deepEqual(await numbers(`${at}&_page=2&_per_page=4`), [5, 6]);
    assert.deepEqual(items(await get(`${at}&fields=n&limit=1`)), [{ id: made[0]?.body.id, n: 1 }]);
    check(await get(`${at}&status=done&count=exact&limit=2`), {
      status: 200,
      headers: { "X-Total-Count": "3", "Content-Range": "books 0-1/3" },
    });
    check(await get(`${at}&limit=2`), { status: 200, headers: { "X-Total-Count": "6" } });
    check(await service.send({ method: "HEAD", path: `${path}?${at}` }), { status: 200 });
    const envelope = (await get(`${at}&envelope=true&limit=1`)).json as { total: number; self: string };
    assert.deepEqual([envelope.total, envelope.self], [6, `${path}?${at}&envelope=true&limit=1`]);
    const csv = await get(`${at}&fields=n&limit=2`, { Accept: "text/csv" });
    assert.equal(csv.text, "id,n\r\n1,1\r\n2,2\r\n");
  });

  test("is paged by cursors that belong to its time, while others write", async () => {
    const found: unknown[] = [];
    let cursor = "";
    for await (const answer of pagesFrom(service.send, `${path}?at=${created}&sort=-n&limit=2`, {
      most: 9,
    })) {
      found.push(...items(answer).map(({ n }) => n));
      cursor = new URL(links(answer).next ?? "/", "http://x").searchParams.get("cursor") ?? cursor;
      tick();
      const { path: target } = await service.create("books", { n: 5 });
      await service.send({ method: "DELETE", path: target });
    }
    assert.deepEqual(found, [6, 5, 4, 3, 2, 1]);
    for (const other of [`at=${created + 1}&`, ""])
      check(await get(`${other}sort=-n&limit=2&cursor=${cursor}`), {
        status: 400,
        problem: "INVALID_CURSOR",
      });
  });

  test("can be asked for with QUERY", async () => {
    for (const at of [created, iso(created), String(created)]) {
      const content = { filter: { status: "open" }, sort: ["-n"], at };
      const answer = await service.send({ method: "QUERY", path, content });
      assert.deepEqual(
        items(answer).map(({ n }) => n),
        [6, 4, 2],
      );
      const location = answer.headers.location ?? "";
      assert.deepEqual(items(await service.send({ path: location })), items(answer));
    }
    for (const at of [1.5, null, "x", {}, 9e15])
      check(await service.send({ method: "QUERY", path, content: { at } }), {
        status: 400,
        problem: "INVALID_PARAMETER",
        violations: [{ in: "body", pointer: "#/at", code: "dateValue" }],
      });
  });

  test("is refused for a value that is no time, for q, and twice", async () => {
    for (const bad of [
      "at=",
      "at=yesterday",
      "at=2026-02-30",
      "at=2026-01-01T00:00:00",
      "at=1&at=1",
      "at=1&q=x",
    ])
      check(await get(bad), {
        status: 400,
        problem: "INVALID_PARAMETER",
        violations: [{ in: "query", name: "at" }],
      });
  });

  test("says the same for each resource as a read of the resource", async () => {
    for (let time = created - 7_000; time <= clock + 1; time += 500) {
      const listed = new Map(items(await get(`at=${time}`)).map((each) => [each.id, each]));
      for (const { path: target, body } of made) {
        const single = await service.send({ path: `${target}?at=${time}` });
        assert.deepEqual(single.status === 404 ? undefined : single.json, listed.get(body.id));
      }
    }
  });

  test("has an ETag that stays, and a link to the events since its time", async () => {
    const answer = await get(`at=${created}`);
    const etag = answer.headers.etag ?? "";
    tick();
    await service.create("books", { n: 9 });
    check(await get(`at=${created}`, { "If-None-Match": etag }), { status: 304, headers: { ETag: etag } });
    assert.notEqual((await get(`at=${changed}`)).headers.etag, etag);
    assert.equal(links(answer).monitor, monitor);
  });
});

describe("a list as of a time before the history", () => {
  test("is refused, and says when the history begins to those who see all", async (t) => {
    const service = await startFor(t, { now: () => clock, history: "none", collections: { books: {} } });
    assert.deepEqual(items(await service.send({ path: "/api/v1/books?at=0" })), []);
    await service.create("books", { n: 1 });
    const answer = await service.send({ path: "/api/v1/books?at=2026-01-01" });
    const violations = [{ in: "query", name: "at", code: "noHistory" }] as const;
    check(answer, { status: 400, problem: "INVALID_PARAMETER", violations });
    const query = { method: "QUERY", path: "/api/v1/books", content: { at: 1 } };
    check(await service.send(query), { status: 400, problem: "INVALID_PARAMETER" });
    const future = await service.send({ path: "/api/v1/books?at=2999-01-01" });
    check(future, { status: 400, problem: "INVALID_PARAMETER", violations });
    for (const { text } of [answer, future]) {
      assert.match(text, /keeps no history/);
      assert.doesNotMatch(text, /later time/);
    }
  });
});

describe("a caller of a list as of a time", () => {
  let service: Service;
  const path = "/api/v1/articles";
  before(async () => {
    service = await startService({
      auth,
      now: () => clock,
      collections: {
        articles: {
          schema: book,
          attributes: { secret: { roles: ["hr"] } },
          access: { read: [owner("authorId"), { role: "hr" }], write: "authenticated" },
        },
      },
    });
  });
  after(() => service.stop());

  test("sees what they could list then and can list now, by the last text of what was deleted", async () => {
    const make = (authorId: string, n: number) =>
      createAs(service, "hans", "articles", { n, authorId, secret: `s${n}` });
    tick();
    const [kept, given, removed, taken] = [
      await make("ada", 1),
      await make("ada", 2),
      await make("ada", 3),
      await make("bob", 4),
    ];
    const then = clock;
    tick();
    const patch = (target: string, content: unknown) =>
      sendAs(service, "hans", { method: "PATCH", path: target, content });
    await patch(kept.path, { n: 10 });
    await patch(given.path, { authorId: "bob" });
    await patch(taken.path, { authorId: "ada" });
    await sendAs(service, "hans", { method: "DELETE", path: removed.path });
    tick();
    const seen = async (who: "ada" | "bob" | "hans", query = "") =>
      items(await sendAs(service, who, { path: `${path}?at=${then}&sort=n${query}` }));
    const numbersOf = async (who: "ada" | "bob" | "hans", query = "") =>
      (await seen(who, query)).map(({ n }) => n);
    assert.deepEqual(await numbersOf("hans"), [1, 2, 3, 4]);
    assert.deepEqual(await numbersOf("ada"), [1, 3]);
    assert.deepEqual(await numbersOf("bob"), []);
    assert.deepEqual(await numbersOf("ada", "&authorId=bob"), []);
    assert.deepEqual(
      (await seen("ada")).map(({ secret }) => secret),
      [undefined, undefined],
    );
    assert.equal((await seen("hans"))[0]?.secret, "s1");
    const counted = await sendAs(service, "ada", { path: `${path}?at=${then}&count=exact&limit=1` });
    assert.equal(counted.headers["x-total-count"], "2");
    check(await sendAs(service, "ada", { path: `${path}?at=${then}&secret=s1` }), {
      status: 400,
      problem: "INVALID_PARAMETER",
    });
    for (const who of ["ada", "bob"] as const)
      for (const { path: target, body } of [kept, given, removed, taken]) {
        const { status } = await sendAs(service, who, { path: `${target}?at=${then}` });
        assert.equal(
          status === 200,
          (await seen(who)).some(({ id }) => id === body.id),
        );
      }
    assert.equal((await service.send({ path: `${path}?at=${then}` })).status, 401);
  });
});

describe("a list as of a time when the ids had an earlier life", () => {
  let service: Service;
  const path = "/api/v1/articles";
  const access = { read: [owner("authorId"), { role: "hr" }], write: "authenticated" } as const;
  before(async () => {
    const collections = { articles: { schema: book, access } };
    service = await startService({ auth, now: () => clock, collections });
  });
  after(() => service.stop());

  test("has only resources whose life ended where the caller could see them", async () => {
    const make = (body: Resource) => createAs(service, "hans", "articles", body);
    tick();
    const made = [await make({ n: 1, authorId: "ada" }), await make({ n: 2, authorId: "ada" })];
    const then = clock;
    tick();
    const [hidden] = made as [Made];
    await sendAs(service, "hans", { method: "PATCH", path: hidden.path, content: { authorId: "bob" } });
    for (const { path: target, id } of made) {
      await sendAs(service, "hans", { method: "DELETE", path: target });
      const content = { id, n: 3, authorId: "ada" };
      const headers = { "if-none-match": "*" };
      const answer = await sendAs(service, "hans", { method: "PUT", path: target, content, headers });
      assert.equal(answer.status, 201, answer.text);
    }
    tick();
    const numbersOf = async (who: "ada" | "hans") => {
      const answer = await sendAs(service, who, { path: `${path}?at=${then}&sort=n&count=exact` });
      const seen = items(answer).map(({ n }) => n);
      assert.equal(answer.headers["x-total-count"], String(seen.length));
      return seen;
    };
    assert.deepEqual(await numbersOf("hans"), [1, 2]);
    assert.deepEqual(await numbersOf("ada"), [2]);
    for (const [n, { path: target }] of made.entries()) {
      const { status } = await sendAs(service, "ada", { path: `${target}?at=${then}` });
      assert.equal(status, n === 0 ? 404 : 200);
    }
  });
});

describe("a list as of a time in a large collection", () => {
  const resources = 3_000;
  const changes = 1_000;
  let service: Service;
  before(async () => {
    const collections = { books: { id: "integer", schema: book } } as const;
    service = await startService({ now: () => clock, collections });
  });
  after(() => service.stop()); // fails if the event loop stood still, or if much memory was used

  async function write(
    count: number,
    operationOf: (n: number) => { method: string; path: string; body: Resource },
  ) {
    for (let from = 0; from < count; from += 100) {
      const operations = Array.from({ length: 100 }, (_, n) => operationOf(from + n));
      const path = "/api/v1/_batch";
      const answer = await service.send({ method: "POST", path, content: { operations } });
      assert.equal(answer.status, 200, answer.text);
    }
  }

  test("is read while others are served", async () => {
    const status = "x".repeat(300);
    await write(resources, (n) => ({ method: "POST", path: "/books", body: { n, status } }));
    const then = clock;
    tick();
    await write(changes, (n) => ({ method: "PATCH", path: `/books/${n + 1}`, body: { n: -n } }));
    const list = async (query: string) =>
      items(await service.send({ path: `/api/v1/books?at=${then}&${query}` })).map(({ n }) => n);
    const others = Array.from({ length: 20 }, (_, n) => list(`limit=1000&offset=${n * 100}`));
    assert.deepEqual(
      await list("limit=1000"),
      Array.from({ length: 1_000 }, (_, n) => n),
    );
    assert.deepEqual(await list("sort=-n&limit=3"), [2_999, 2_998, 2_997]);
    assert.deepEqual(await list("n:lt=3&count=exact"), [0, 1, 2]);
    assert.deepEqual(await list("limit=2&offset=2998"), [2_998, 2_999]);
    for (const [n, found] of (await Promise.all(others)).entries())
      assert.deepEqual([found.length, found[0]], [1_000, n * 100]);
  });
});
