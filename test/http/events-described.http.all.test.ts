/** The descriptions and links of feeds are true. Other files test the behaviour of feeds. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { run, serve, stop } from "../commands/cli.ts";
import { makeFolder } from "../folder.ts";
import { until } from "../until.ts";
import { auth, sendAs } from "./access/callers.ts";
import { check, links } from "./check.ts";
import { type Answer, type Service, startFor } from "./service.ts";

const list = "/api/v1/topics";
const feed = `${list}/_events`;
const pageType = "application/cloudevents-batch+json; charset=utf-8";

function typesIn({ json }: Answer): [type: string, subject: string][] {
  return (json as { type: string; subject: string }[]).map(({ type, subject }) => [type, subject]);
}

describe("the monitor link of a list", () => {
  const filters = [
    { name: "collection", query: "collection=a" },
    { name: "lastEventId", query: "lastEventId=a" },
    { name: "lastEventId", query: "%6castEventId=a&lastEventId=b" },
    { name: "title", query: "title=a&envelope=true&limit=1&sort=-title&count=exact" },
    { name: "title", query: "title_like=a&_sort=title&_order=desc&_start=0&_end=5" },
  ];
  for (const { name, query } of filters)
    test(`has the filter of ?${query}`, async (t) => {
      const service = await startFor(t);
      const [fits, other] = [
        await service.create("topics", { [name]: "a" }),
        await service.create("topics", { [name]: "x" }),
      ];
      const { monitor = "" } = links(await service.send({ path: `${list}?${query}` }));
      check(await service.send({ path: monitor }), {
        status: 200,
        headers: { "Cache-Control": "no-store", "Content-Type": pageType },
      });
      for (const { path } of [other, fits])
        assert.equal((await service.send({ method: "PATCH", path, content: { n: 1 } })).status, 200);
      const answer = await service.send({ path: monitor });
      assert.deepEqual(typesIn(answer), [["topics.updated", fits.id]]);
    });

  test("is missing for a search, for a filter by id, and without a history", async (t) => {
    const service = await startFor(t, {
      collections: { topics: { search: ["title"], schema: { properties: { title: { type: "string" } } } } },
    });
    for (const query of ["q=a", "id=1", "id:gt=1", "filter=%7B%22not%22:%7B%22id%22:%221%22%7D%7D"])
      assert.equal(links(await service.send({ path: `${list}?${query}` })).monitor, undefined, query);
    const silent = await startFor(t, { history: "none" });
    assert.deepEqual(Object.keys(links(await silent.send({ path: list }))), ["first"]);
  });
});

describe("a page of events", () => {
  test("says how many events it can have", async (t) => {
    const service = await startFor(t);
    for (let n = 0; n < 3; n++) await service.create("topics", { n });
    const limits = { "": "100", "?limit=2": "2", "?limit=1000": "1000", "?limit=max": "1000" };
    for (const path of [feed, "/api/v1/_events"])
      for (const [query, limit] of Object.entries(limits))
        check(await service.send({ path: path + query }), {
          status: 200,
          headers: { "Cache-Control": "no-store", "Page-Limit": limit, Link: /^<[^>]*>; rel="next"$/ },
        });
  });

  test("has only the parameters that its description has", async (t) => {
    const service = await startFor(t);
    const { json } = await service.send({ path: "/openapi.json" });
    const { components, paths } = json as {
      components: { parameters: Record<string, { name: string; in: string }> };
      paths: Record<string, { get: { parameters: { $ref?: string }[] } }>;
    };
    const named = (path: string) =>
      (paths[path]?.get.parameters ?? assert.fail(path)).flatMap(({ $ref = "" }) => {
        const part = components.parameters[$ref.split("/").at(-1) ?? ""];
        return part?.in === "query" ? part.name : [];
      });
    assert.deepEqual(named("/api/v1/{collection}/_events").sort(), [
      ...["fields", "filter", "lastEventId", "limit", "since", "wait"],
    ]);
    assert.deepEqual(named("/api/v1/_events").sort(), [
      ...["collection", "fields", "lastEventId", "limit", "since", "wait"],
    ]);
    for (const [path, name] of [
      [feed, "q"],
      [feed, "sort"],
      [feed, "cursor"],
      [feed, "id"],
      ["/api/v1/_events", "filter"],
      ["/api/v1/_events", "title"],
    ])
      check(await service.send({ path: `${path}?${name}=a` }), { status: 400, problem: "INVALID_PARAMETER" });
  });

  test("has the statuses that its description has", async (t) => {
    const service = await startFor(t, { limits: { streamsPerCaller: 1 } });
    const other = await startFor(t);
    const first = await service.create("topics", { n: 1 });
    await other.create("topics", { n: 2 });
    const { next = "" } = links(await other.send({ path: feed }));
    const foreign = next.split("since=")[1];
    for (const path of [feed, "/api/v1/_events?collection=topics"]) {
      const sign = path.includes("?") ? "&" : "?";
      for (const type of ["application/json", "application/cloudevents-batch+json"]) {
        const answer = await service.send({ path, headers: { Accept: type } });
        check(answer, {
          status: 200,
          headers: { "Cache-Control": "no-store", "Content-Type": `${type}; charset=utf-8` },
        });
        assert.deepEqual(typesIn(answer)[0], ["topics.created", first.id]);
      }
      check(await service.send({ path: `${path}${sign}since=x` }), {
        status: 400,
        problem: "INVALID_CURSOR",
      });
      check(await service.send({ path, headers: { Accept: "text/csv" } }), {
        status: 406,
        problem: "NOT_ACCEPTABLE",
      });
      check(await service.send({ path: `${path}${sign}since=${foreign}` }), {
        status: 410,
        problem: "POSITION_GONE",
      });
      const { next: here } = links(await service.send({ path: `${path}${sign}since=now` }));
      const waiting = service.send({ path: `${here}&wait=60` });
      const refused = await untilRefused(service, `${path}${sign}since=now&wait=1`);
      check(refused, { status: 429, problem: "QUOTA_EXCEEDED", headers: { "Retry-After": "5" } });
      const head = await service.send({ method: "HEAD", path: `${path}${sign}since=now&wait=60` });
      // It never waits, so the limit does not count it.
      check(head, { status: 200, headers: { "Cache-Control": "no-store" } });
      await service.create("topics", { n: 3 });
      assert.equal(typesIn(await waiting).length, 1);
      await service.send({ method: "DELETE", path: `${list}/${(await service.create("topics", {})).id}` });
      assert.match((await service.send({ path })).text, /topics\.deleted/);
      await service.send({ path, method: "HEAD" });
    }
    check(await service.send({ path: "/api/v1/1-no-name/_events" }), { status: 404 });
  });

  test("needs the rights that its description names", async (t) => {
    const access = { read: { role: "editor" }, write: { role: "editor" } } as const;
    const service = await startFor(t, { auth, collections: { topics: { access } } });
    for (const path of [feed, "/api/v1/_events?collection=topics"]) {
      check(await service.send({ path }), { status: 401, problem: "UNAUTHENTICATED" });
      check(await sendAs(service, "bob", { path }), { status: 403, problem: "INSUFFICIENT_SCOPE" });
    }
    const { json } = await service.send({ path: "/openapi.json" });
    const { paths } = json as { paths: Record<string, { get: { security?: unknown[] } }> };
    assert.equal(paths[feed]?.get.security, undefined);
    assert.deepEqual(paths["/api/v1/_events"]?.get.security, [{}, { bearer: [] }]);
  });
});

/** The first answer that is a 429: a page that waits is counted some time after it was sent. */
async function untilRefused(service: Service, path: string): Promise<Answer> {
  let answer: Answer | undefined;
  await until("a page is refused", async () => {
    answer = await service.send({ path });
    return answer.status === 429;
  });
  return answer as Answer;
}

test("start is the oldest place from which the log is complete, also after an erasure", async (t) => {
  const cwd = makeFolder();
  const first = await serve(t, [], { cwd });
  const create = async (base: string, content: object): Promise<string> => {
    const headers = { "content-type": "application/json" };
    const made = await fetch(`${base}/topics`, { method: "POST", headers, body: JSON.stringify(content) });
    return ((await made.json()) as { id: string }).id;
  };
  for (let n = 0; n < 5; n++) await create(first.base, { n });
  const erased = await create(first.base, { n: 5 });
  await create(first.base, { n: 6 });
  await stop(first);
  assert.equal((await run(t, ["erase", "topics", erased], { cwd })).exitCode, 0);
  const second = await serve(t, [], { cwd });
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) {
    for (const path of ["/topics/_events", "/_events?since=start&limit=1000"]) {
      const answer = await fetch(second.base + path);
      assert.equal(answer.status, 200, `${path} ${n}`);
      const events = (await answer.json()) as { subject: string }[];
      assert.deepEqual(
        events.map(({ subject }) => subject),
        ids,
      );
      const [, next = ""] = /<([^>]+)>/.exec(answer.headers.get("link") ?? "") ?? [];
      assert.equal((await fetch(second.origin + next)).status, 200);
    }
    ids.push(await create(second.base, { n }));
  }
});

test("without a history there is no feed, and no description of one", async (t) => {
  const service = await startFor(t, { history: "none", collections: { topics: {} } });
  for (const path of [feed, "/api/v1/_events", `${feed}?since=now`, "/asyncapi.json"])
    for (const accept of ["*/*", "text/event-stream"])
      check(await service.send({ path, headers: { Accept: accept } }), { status: 404 });
  const { text } = await service.send({ path: "/openapi.json" });
  assert.doesNotMatch(text, /_events|asyncapi|POSITION_GONE":|Last-Event-ID/);
  assert.doesNotMatch((await service.send({ path: "/.well-known/api-catalog" })).text, /asyncapi/);
});
