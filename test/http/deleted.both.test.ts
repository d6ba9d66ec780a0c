/** Deleted resources: their list, and restores of many. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { machineTime, nextMillisecond } from "../until.ts";
import { check } from "./check.ts";
import { type Service, startFor, startServiceForFile } from "./service.ts";

const collections = {
  topics: {
    schema: {
      type: "object",
      properties: {
        title: { type: "string", maxLength: 100 },
        n: { type: "integer" },
        status: { enum: ["open", "done"] },
        text: { type: "string" },
        due: { type: "string", format: "date" },
        _deleted: { type: "string" },
      },
    },
    unique: ["title"],
    search: ["text"],
  },
  counters: { id: "integer" },
  walked: { schema: { type: "object", properties: { n: { type: "integer" }, s: { type: "string" } } } },
  teams: {},
  members: { references: { teamId: { collection: "teams", onDelete: "cascade" } } },
} as const;

const service = await startServiceForFile({ collections });

interface Deleted {
  id: string | number;
  [name: string]: unknown;
  _deleted: { at: string; by?: string; version: number };
}

const trash = (path: string, headers = {}) => service.send({ path: `/api/v1/${path}`, headers });
const read = async (path: string) => {
  const answer = await trash(path);
  assert.equal(answer.status, 200, answer.text);
  return answer.json as Deleted[];
};
const remove = async ({ path }: { path: string }) => {
  assert.equal((await service.send({ method: "DELETE", path })).status, 205);
  await nextMillisecond(); // the next delete has a later time
};
const restore = (collection: string, content: unknown, headers = {}, of: Service = service) =>
  of.send({ method: "POST", path: `/api/v1/${collection}/_deleted/_restore`, content, headers });
const idsOf = (list: readonly { id?: unknown }[]) => list.map(({ id }) => id);

describe("the list of deleted resources", () => {
  test("has what is deleted now, as it was, the latest delete first", async () => {
    const made = [];
    for (const n of [1, 2, 3, 4])
      made.push(await service.create("topics", { title: `a${n}`, n, status: "open" }));
    const [one, two, three, four] = made as [
      (typeof made)[0],
      (typeof made)[0],
      (typeof made)[0],
      (typeof made)[0],
    ];
    await service.send({
      method: "PATCH",
      path: two.path,
      content: { n: 20 },
      headers: { "Content-Type": "application/merge-patch+json" },
    });
    const before = machineTime();
    for (const each of [one, two, three]) await remove(each);
    await service.send({ method: "POST", path: `${three.path}/_restore`, content: { version: 1 } });
    const answer = await trash("topics/_deleted");
    check(answer, { status: 200, headers: { "X-Total-Count": "2", "Content-Range": "topics 0-1/2" } });
    assert.equal(answer.headers["accept-query"], "application/json");
    assert.doesNotMatch(String(answer.headers.link), /monitor/);
    const [first, second] = answer.json as Deleted[];
    assert.deepEqual({ ...first, _deleted: 0 }, { ...two.body, n: 20, _deleted: 0 });
    assert.deepEqual({ ...second, _deleted: 0 }, { ...one.body, _deleted: 0 });
    assert.deepEqual([first?._deleted.version, second?._deleted.version], [2, 1]);
    assert.ok(Date.parse(String(first?._deleted.at)) >= Date.parse(String(second?._deleted.at)));
    assert.ok(Date.parse(String(second?._deleted.at)) >= before - 1);
    // A restore of the version that the list names brings the resource back, and it leaves the list.
    const back = await service.send({
      method: "POST",
      path: `${two.path}/_restore`,
      content: { version: first?._deleted.version },
    });
    check(back, { status: 201, json: { ...two.body, n: 20 } });
    assert.deepEqual(idsOf(await read("topics/_deleted")), [one.body.id]);
    // Deleted again, it is there once, as it was last.
    await remove(two);
    await remove(four);
    assert.deepEqual(idsOf(await read("topics/_deleted")), [four.body.id, two.body.id, one.body.id]);
    assert.equal((await read("topics/_deleted"))[1]?._deleted.version, 4);
  });

  test("has the filters, sorts, fields, pages and formats of a list", async () => {
    const all = await read("topics/_deleted?sort=-n&fields=n,_deleted");
    assert.deepEqual(
      all.map(({ n }) => n),
      [20, 4, 1],
    );
    assert.deepEqual(Object.keys(all[0] ?? {}).sort(), ["_deleted", "id", "n"]);
    assert.deepEqual(
      (await read("topics/_deleted?n:gte=4&fields=n&sort=n")).map(({ n }) => n),
      [4, 20],
    );
    assert.deepEqual(
      (await read('topics/_deleted?filter={"or":[{"n":1},{"n":4}]}&fields=-_deleted')).length,
      2,
    );
    const [latest, , oldest] = await read("topics/_deleted");
    const since = encodeURIComponent(String(latest?._deleted.at));
    assert.deepEqual(idsOf(await read(`topics/_deleted?_deleted.at:gte=${since}`)), [latest?.id]);
    assert.deepEqual(idsOf(await read("topics/_deleted?sort=_deleted.at&limit=1")), [oldest?.id]);
    assert.deepEqual(idsOf(await read("topics/_deleted?_deleted.version:gte=2&n:lt=20")), []);
    const walked: unknown[] = [];
    for (let path = "/api/v1/topics/_deleted?limit=1&envelope=true"; ; ) {
      const { json } = await service.send({ path });
      const page = json as { items: Deleted[]; total: number; next?: string };
      assert.equal(page.total, 3);
      walked.push(...idsOf(page.items));
      if (page.next === undefined) break;
      path = page.next;
    }
    assert.deepEqual(walked, idsOf(await read("topics/_deleted")));
    assert.deepEqual(idsOf(await read("topics/_deleted?offset=1&limit=1")), [walked[1]]);
    const csv = await trash("topics/_deleted?fields=n&sort=n&limit=2", { Accept: "text/csv" });
    assert.equal(csv.text, `id,n\r\n${walked[2]},1\r\n${walked[0]},4\r\n`);
    const lines = await trash("topics/_deleted?fields=n&sort=n", { Accept: "application/x-ndjson" });
    assert.equal(lines.text.trimEnd().split("\n").length, 3);
    const etag = String((await trash("topics/_deleted")).headers.etag);
    check(await trash("topics/_deleted", { "If-None-Match": etag }), { status: 304 });
    check(await trash("topics/_deleted", { "If-Match": '"x"' }), { status: 412 });
  });

  test("gives the same pages as the list before the deletes", async () => {
    for (let n = 0; n < 60; n++)
      await service.create("walked", {
        n: n % 7,
        ...(n % 5 > 0 && { s: `${"é".repeat(n % 3)}${n % 11}`.padEnd(n % 4 === 0 ? 5_000 : 1, "x") }),
      });
    const queries = [
      "sort=n",
      "sort=-n,s",
      "sort=s",
      "sort=-s&n:gt=2",
      "sort=id&s:contains=1",
      "sort=-id&n:in=1,3",
      "sort=n&s:exists=false&limit=3",
      "sort=s,-n&limit=7&count=exact",
      `sort=-n&filter=${encodeURIComponent('{"or":[{"n":2},{"s":{"startsWith":"é"}}]}')}&limit=4`,
    ];
    const walk = async (collection: string, query: string) => {
      const pages: unknown[] = [];
      for (
        let path: string | undefined = `/api/v1/${collection}?${query}&envelope=true`;
        path !== undefined;
      ) {
        const answer = await service.send({ path });
        assert.equal(answer.status, 200, answer.text);
        const page = answer.json as { items: object[]; total?: number; next?: string };
        pages.push(page.items.map((each) => ({ ...each, _deleted: undefined })));
        path = page.next;
      }
      return pages;
    };
    const before = [];
    for (const query of queries) before.push(await walk("walked", query));
    const gone = await service.send({
      method: "POST",
      path: "/api/v1/walked/_bulk",
      content: { all: true, delete: true, max: 100 },
    });
    assert.equal(gone.status, 200, gone.text);
    for (const [n, query] of queries.entries())
      assert.deepEqual(await walk("walked/_deleted", query), before[n], query);
    assert.deepEqual(
      await read("walked/_deleted?fields=n&sort=n"),
      await read("walked/_deleted?fields=n&sort=n"),
    );
  });

  test("knows no search, time, relation or figures, and no other member of a delete", async () => {
    for (const query of ["q=a", "at=2026-01-31", "embed=team", "aggregate=count", "distinct=n"])
      check(await trash(`topics/_deleted?${query}`), { status: 400 });
    const wrong = await trash("topics/_deleted?_deleted.who:eq=x");
    check(wrong, { status: 400 });
    assert.match(wrong.text, /_deleted\.at/);
    check(await trash("topics/_deleted?titel=x"), { status: 400 });
    check(await trash("topics?_deleted.at:gte=2026-01-31"), { status: 400 });
    check(await service.send({ method: "DELETE", path: "/api/v1/topics/_deleted" }), {
      status: 405,
      headers: { Allow: "GET, HEAD, QUERY, OPTIONS" },
    });
  });

  test("is asked for by QUERY too, with the same pages, and with filters that are too long for a URL", async () => {
    const ask = (content: unknown, headers = {}) =>
      service.send({ method: "QUERY", path: "/api/v1/walked/_deleted", content, headers });
    for (let n = 0; n < 3; n++) await remove(await service.create("walked", { n, s: "query" }));
    const first = await ask({ filter: { s: "query" }, limit: 2, fields: ["n"] });
    check(first, { status: 200, headers: { "Accept-Query": /json/ } });
    assert.deepEqual(
      (first.json as Deleted[]).map(({ n }) => n),
      [2, 1],
    );
    const same = "walked/_deleted?filter=%7B%22s%22%3A%22query%22%7D&limit=2&fields=n";
    assert.equal(first.headers.location, `/api/v1/${same}`);
    assert.deepEqual(await read(same), first.json);
    check(
      await ask({ filter: { s: "query" }, limit: 2, fields: ["n"] }, { "If-None-Match": first.headers.etag }),
      {
        status: 304,
      },
    );
    const filter = {
      s: { in: ["query", ...Array.from({ length: 99 }, (_, n) => `${n}`.repeat(100))] },
      n: { gt: 0 },
    };
    const long = await ask({ filter, sort: ["n"] });
    assert.deepEqual(
      (long.json as Deleted[]).map(({ n }) => n),
      [1, 2],
    );
    for (const wrong of [{ q: "a" }, { at: "2026-01-31" }, { embed: ["team"] }, { aggregate: ["count"] }, []])
      check(await ask(wrong), { status: 400 });
    check(await ask({}, { "If-Match": '"none"' }), { status: 412 });
    check(await service.send({ method: "QUERY", path: "/api/v1/walked/_deleted?n=1", content: {} }), {
      status: 400,
    });
  });

  test("has integers as ids, and ends early if the resources are large", async () => {
    const made = [];
    for (let n = 0; n < 3; n++) made.push(await service.create("counters", { pad: "x".repeat(900_000), n }));
    for (const each of made) await remove(each);
    const page = await trash("counters/_deleted?sort=id&fields=n");
    assert.deepEqual(idsOf(page.json as Deleted[]), [1, 2]);
    assert.match(String(page.headers.link), /rel="next"/);
    assert.deepEqual(idsOf(await read("counters/_deleted?id=3&fields=id")), [3]);
  });

  test("does not exist without a history, nor for an unknown collection", async (t) => {
    const none = await startFor(t, { collections, history: "none" });
    const { path } = await none.create("topics", { n: 1 });
    await none.send({ method: "DELETE", path });
    check(await none.send({ path: "/api/v1/topics/_deleted" }), { status: 404 });
    check(await restore("topics", { all: true, max: 1 }, {}, none), { status: 404 });
    check(await trash("nothing/_deleted"), { status: 404 });
    const open = await startFor(t);
    check(await open.send({ path: "/api/v1/nothing/_deleted" }), { status: 200, json: [] });
    const made = await open.create("notes", { a: 1, _deleted: "mine" });
    await open.send({ method: "DELETE", path: made.path });
    const [note] = (await open.send({ path: "/api/v1/notes/_deleted?a=1" })).json as Deleted[];
    assert.equal(note?._deleted.version, 1);
    check(await restore("notes", { filter: { a: 1 }, max: 1 }, {}, open), { status: 200 });
    check(await open.send({ path: made.path }), { status: 200, json: made.body });
  });
});

describe("a restore of many", () => {
  const make = async (n: number, title = `m${n}`) => {
    const made = await service.create("topics", { title, n, status: "done" });
    await remove(made);
    return made;
  };

  test("restores what matches, to its last version, or says what it would restore", async () => {
    const made = [];
    for (const n of [100, 101, 102]) made.push(await make(n));
    const sent = { filter: { status: "done", n: { lte: 101 } }, max: 2 };
    const ids = idsOf(made.slice(0, 2).map(({ body }) => body)).sort();
    const would = await restore("topics", { ...sent, dryRun: true });
    check(would, { status: 200, json: { matched: 2, changed: 2, dryRun: true, ids } });
    assert.equal((await read("topics/_deleted?status=done")).length, 3);
    const did = await restore("topics", sent);
    check(did, { status: 200, json: { matched: 2, changed: 2, dryRun: false, ids } });
    for (const { path, body } of made.slice(0, 2))
      check(await service.send({ path }), { status: 200, headers: { ETag: '"3"' }, json: body });
    assert.deepEqual(idsOf(await read("topics/_deleted?status=done")), [made[2]?.body.id]);
    check(await restore("topics", sent), {
      status: 200,
      json: { matched: 0, changed: 0, dryRun: false, ids: [] },
    });
  });

  test("restores by the time of the delete, and what refers to each other together", async () => {
    const team = await service.create("teams", {});
    for (const n of [1, 2]) await service.create("members", { n, teamId: team.body.id });
    const since = new Date(machineTime()).toISOString();
    await remove(team);
    check(await restore("members", { all: true, max: 5 }), { status: 400 });
    check(await restore("teams", { filter: { "_deleted.at": { gte: since } }, max: 5 }), { status: 200 });
    const both = await restore("members", { filter: { "_deleted.at": { gte: since } }, max: 5 });
    assert.equal((both.json as { changed: number }).changed, 2, both.text);
  });

  test("changes nothing if one is refused, or if more match", async () => {
    const one = await make(200, "same");
    await make(201, "other");
    await service.create("topics", { title: "same" });
    const refused = await restore("topics", { filter: { n: { gte: 200 } }, max: 9 });
    check(refused, { status: 409 });
    const { code, resource } = refused.json as { code: string; resource: string };
    assert.deepEqual([code, resource], ["UNIQUE_VIOLATION", one.path]);
    const many = await restore("topics", { filter: { n: { gte: 200 } }, max: 1 });
    check(many, { status: 409 });
    assert.equal((many.json as { matched: number }).matched, 2);
    assert.equal((await read("topics/_deleted?n:gte=200")).length, 2);
  });

  test("takes a key once, and refuses what it does not understand", async () => {
    await make(300);
    const headers = { "Idempotency-Key": "restore-1" };
    const sent = { filter: { n: 300 }, max: 1 };
    const first = await restore("topics", sent, headers);
    const again = await restore("topics", sent, headers);
    check(again, { status: 200, json: first.json });
    assert.equal((first.json as { changed: number }).changed, 1);
    for (const content of [
      {},
      { filter: {}, max: 1 },
      { all: true, filter: { n: 1 }, max: 1 },
      { all: true },
      { all: true, max: 1, delete: true },
      { filter: { titel: "x" }, max: 1 },
    ])
      check(await restore("topics", content), { status: 400 });
    check(await restore("topics", { all: true, max: 1 }, { "If-Match": '"1"' }), { status: 400 });
  });
});

describe("both paths of deleted resources", () => {
  test("refuse formats that they do not have, contents that are too long, and keys of other requests", async () => {
    check(await trash("topics/_deleted", { Accept: "image/png" }), {
      status: 406,
      problem: "NOT_ACCEPTABLE",
    });
    const query = (content: object, headers: Record<string, string>) =>
      service.send({ method: "QUERY", path: "/api/v1/topics/_deleted", content, headers });
    check(await query({}, { Accept: "image/png" }), { status: 406, problem: "NOT_ACCEPTABLE" });
    check(await query({}, { "Content-Type": "text/plain" }), {
      status: 415,
      problem: "UNSUPPORTED_MEDIA_TYPE",
    });
    check(await query({ filter: { title: "x".repeat(2_000_000) } }, {}), {
      status: 413,
      problem: "CONTENT_TOO_LARGE",
    });
    const sent = { filter: { n: 4_000 }, max: 1 };
    check(await restore("topics", sent, { Accept: "image/png" }), { status: 406, problem: "NOT_ACCEPTABLE" });
    const headers = { "Content-Type": "text/plain" };
    check(await restore("topics", sent, headers), { status: 415, problem: "UNSUPPORTED_MEDIA_TYPE" });
    const long = { ...sent, filter: { title: "x".repeat(2_000_000) } };
    check(await restore("topics", long), { status: 413, problem: "CONTENT_TOO_LARGE" });
    const key = { "Idempotency-Key": "restore-2" };
    check(await restore("topics", sent, key), { status: 200 });
    const other = await restore("topics", { ...sent, max: 2 }, key);
    check(other, { status: 422, problem: "IDEMPOTENCY_KEY_REUSED" });
  });

  test("do not exist in a collection that cannot exist, and count for the quota", async (t) => {
    const rate = { requests: 3, perSeconds: 60 };
    const limited = await startFor(t, { rate }); // in open mode, its document describes every collection
    const path = "/api/v1/1-no-name/_deleted";
    check(await limited.send({ path }), { status: 404 });
    check(await limited.send({ method: "QUERY", path, content: {} }), { status: 404 });
    check(await restore("1-no-name", { all: true, max: 1 }, {}, limited), { status: 404 });
    const spent = { status: 429, problem: "QUOTA_EXCEEDED" } as const;
    check(await limited.send({ path: "/api/v1/topics/_deleted" }), spent);
    check(await limited.send({ method: "QUERY", path: "/api/v1/topics/_deleted", content: {} }), spent);
    check(await restore("topics", { all: true, max: 1 }, {}, limited), spent);
  });
});
