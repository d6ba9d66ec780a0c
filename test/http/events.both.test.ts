/** Pages of events: their parameters, their links, and what each event says. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { listParameters } from "../../src/query/list-parameters.ts";
import { machineTime } from "../until.ts";
import { check, checkCommonHeaders } from "./check.ts";
import { type CloudEvent, eventsOf, follow, inShort, linkOf, sinceOf } from "./follow.ts";
import { type Answer, type Request, startServiceForFile } from "./service.ts";
import { afterNextList } from "./store-spy.ts";

const service = await startServiceForFile();

let made = 0;
const newName = () => `c${++made}`;
const get = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  service.send({ path: `/api/v1/${path}`, headers });
const page = async (path: string) => eventsOf(await get(path));

const batch = (operations: object[]): Promise<Answer> =>
  service.send({ method: "POST", path: "/api/v1/_batch", content: { operations } });

test("a page has every change as a CloudEvent, from the first on", async () => {
  const name = newName();
  const path = `/api/v1/${name}`;
  const { body, id } = await service.create(name, { n: 1, text: "é\u2028" });
  const changed = await service.send({ method: "PATCH", path: `${path}/${id}`, content: { n: 2 } });
  await service.send({ method: "DELETE", path: `${path}/${id}` });
  const answer = await get(`${name}/_events`);
  checkCommonHeaders(answer, { "cache-control": "no-store" });
  const events = eventsOf(answer);
  const common = { specversion: "1.0", source: path, subject: id, datacontenttype: "application/json" };
  const seen = events.map(({ id: _, time, ...event }) => {
    assert.ok(Math.abs(Date.parse(time) - machineTime()) < 600_000, time);
    return event;
  });
  assert.deepEqual(seen, [
    { ...common, type: `${name}.created`, etag: '"1"', version: "1", data: body },
    { ...common, type: `${name}.updated`, etag: '"2"', version: "2", data: changed.json },
    { ...common, type: `${name}.deleted`, version: "3", data: { id } },
  ]);
  assert.equal(new Set(events.map((event) => event.id)).size, 3);
  for (const event of events) assert.match(event.id, /^e[\w-]{22}$/, "one block");
});

test("a page is a CloudEvents batch, or JSON if the client asks for it", async () => {
  const name = newName();
  for (const [accept, type] of [
    [undefined, "application/cloudevents-batch+json; charset=utf-8"],
    ["*/*", "application/cloudevents-batch+json; charset=utf-8"],
    ["application/cloudevents-batch+json", "application/cloudevents-batch+json; charset=utf-8"],
    ["application/json", "application/json; charset=utf-8"],
    ["text/event-stream;q=0.1, application/json", "application/json; charset=utf-8"],
  ] as const) {
    const headers: Record<string, string> = accept === undefined ? {} : { accept };
    const answer = await get(`${name}/_events`, headers);
    assert.equal(answer.headers["content-type"], type);
  }
  const refused = await get(`${name}/_events`, { accept: "text/html" });
  check(refused, { status: 406, problem: "NOT_ACCEPTABLE", headers: { "Cache-Control": "no-store" } });
});

test("since, limit and the next link walk through all events without a gap or a repetition", async () => {
  const name = newName();
  for (let n = 0; n < 7; n++) await service.create(name, { n });
  const seen: CloudEvent[] = [];
  let path = `${name}/_events?limit=3`;
  const sizes: number[] = [];
  for (let pages = 0; pages < 4; pages++) {
    const answer = await get(path);
    const events = eventsOf(answer);
    seen.push(...events);
    sizes.push(events.length);
    path = linkOf(answer, "next").slice("/api/v1/".length);
    assert.match(path, /\?limit=3&since=/);
  }
  assert.deepEqual(sizes, [3, 3, 1, 0]);
  assert.deepEqual(
    seen.map(({ data }) => data.n),
    [0, 1, 2, 3, 4, 5, 6],
  );
  await service.create(name, { n: 7 });
  assert.deepEqual(
    (await page(path)).map(({ data }) => data.n),
    [7],
    "the last link stays good",
  );
  assert.deepEqual(await page(`${name}/_events?since=now`), []);
  assert.equal((await page(`${name}/_events?since=start`)).length, 8);
  assert.equal((await page(`${name}/_events?limit=max`)).length, 8);
  assert.equal((await get(`${name}/_events?limit=max`)).headers["page-limit"], "1000");
});

test("a page never ends between the changes of one commit, and they share a group", async () => {
  const name = newName();
  await service.create(name, { n: 0 });
  const operations = [1, 2, 3].map((n) => ({ method: "POST", path: `/${name}`, body: { n } }));
  assert.equal((await batch(operations)).status, 200);
  await service.create(name, { n: 4 });
  const first = await get(`${name}/_events?limit=2`);
  const events = eventsOf(first);
  assert.deepEqual(
    events.map(({ data }) => data.n),
    [0, 1, 2, 3],
  );
  const groups = events.map(({ group }) => group);
  assert.deepEqual([groups[0], new Set(groups.slice(1)).size], [undefined, 1]);
  assert.match(groups[1] ?? "", /^[\w-]{12}$/);
  const rest = await page(linkOf(first, "next").slice("/api/v1/".length));
  assert.deepEqual(
    rest.map(({ data, group }) => [data.n, group]),
    [[4, undefined]],
  );
});

test("a page ends at about 2 MiB, and one resource that is larger than that is on a page of its own", async () => {
  const name = newName();
  const pad = "x".repeat(900_000);
  for (let n = 0; n < 5; n++) await service.create(name, { n, pad });
  const sizes: number[] = [];
  let path = `${name}/_events`;
  while (sizes.at(-1) !== 0) {
    const answer = await get(path);
    sizes.push(eventsOf(answer).length);
    path = linkOf(answer, "next").slice("/api/v1/".length);
  }
  assert.deepEqual(sizes, [3, 2, 0]);
});

test("fields choose the attributes of data, and filters choose the events", async () => {
  const name = newName();
  const a = await service.create(name, { n: 1 });
  const b = await service.create(name, { n: 5 });
  const ids = { a: a.id, b: b.id };
  await service.send({ method: "PUT", path: a.path, content: { id: a.id, n: 7, x: "y" } });
  await service.send({ method: "PUT", path: b.path, content: { id: b.id, n: 2 } });
  assert.deepEqual((await page(`${name}/_events?fields=x`)).map(({ data }) => data).slice(2), [
    { id: ids.a, x: "y" },
    { id: ids.b },
  ]);
  const views: [string, unknown[][]][] = [
    [
      "n:gte=5",
      [
        ["created", ids.b, 5],
        ["created", ids.a, 7],
        ["deleted", ids.b, undefined],
      ],
    ],
    [
      "n=1",
      [
        ["created", ids.a, 1],
        ["deleted", ids.a, undefined],
      ],
    ],
    ["x:exists=true", [["created", ids.a, 7]]],
    [
      "n:lt=9",
      [
        ["created", ids.a, 1],
        ["created", ids.b, 5],
        ["updated", ids.a, 7],
        ["updated", ids.b, 2],
      ],
    ],
    [
      "n:in=1,5&n:gt=1",
      [
        ["created", ids.b, 5],
        ["deleted", ids.b, undefined],
      ],
    ],
    [
      `filter=${encodeURIComponent('{"or":[{"n":1},{"x":"y"}]}')}`,
      [
        ["created", ids.a, 1],
        ["updated", ids.a, 7],
      ],
    ],
  ];
  for (const [query, expected] of views) {
    const answer = await get(`${name}/_events?${query}`);
    assert.equal(answer.status, 200, `${query}: ${answer.text}`);
    assert.deepEqual(
      eventsOf(answer).map((event) => inShort(event)),
      expected,
      query,
    );
    assert.ok(linkOf(answer, "next").includes(query.split("=")[0] ?? ""), "the link keeps the filter");
  }
});

test("what a feed does not understand is refused, with a sentence", async () => {
  const name = newName();
  const refusals: [string, RegExp][] = [
    ["limit=0", /whole number/],
    ["limit=x", /whole number/],
    ["limit=1.5", /whole number/],
    ["limit=-1", /whole number/],
    ["limit=1&limit=2", /only once/],
    ["since=now&since=start", /only once/],
    ["wait=61", /from 0 to 60/],
    ["wait=x", /whole number/],
    ["sort=n", /order of the changes/],
    ["q=word", /cannot search/],
    ["offset=3", /since/],
    ["cursor=abc", /since/],
    ["count=true", /no total/],
    ["at=2026-01-01", /positions instead of times. Use \\"since\\"/],
    ["envelope=true", /always an array/],
    ["id=1", /filter by id. Compare the \\"subject\\" of each event/],
    ["id:in=1,2", /filter by id/],
    ["filter=%7B%22id%22%3A%221%22%7D", /filter by id/],
    ["n:wrong=1", /wrong/],
  ];
  for (const [query, detail] of refusals) {
    const answer = await get(`${name}/_events?${query}`);
    check(answer, { status: 400, problem: "INVALID_PARAMETER", headers: { "Cache-Control": "no-store" } });
    assert.match(answer.text, detail, query);
  }
  assert.deepEqual(await page(`${name}/_events?collection=other`), [], "of one collection, this is a filter");
  for (const query of ["limit=5", "wait=5"]) {
    const answer = await get(`${name}/_events?${query}`, { accept: "text/event-stream" });
    check(answer, { status: 400, problem: "INVALID_PARAMETER", headers: { "Cache-Control": "no-store" } });
    assert.match(answer.text, /is for pages/);
  }
});

test("a feed refuses each parameter of lists that it does not have, and says what to do", async () => {
  const name = newName();
  const supported: readonly string[] = ["limit", "filter", "fields"];
  for (const parameter of listParameters.filter((each) => !supported.includes(each))) {
    const isMissing = new RegExp(
      `"name":"${parameter}","code":"unknownParameter","detail":"[^:]* cannot be used here: \\w`,
    );
    for (const path of [`${name}/_events?${parameter}=1`, `${name}/_events?${parameter}=1&wait=1`]) {
      const answer = await get(path);
      check(answer, { status: 400, problem: "INVALID_PARAMETER" });
      assert.match(answer.text, isMissing);
    }
    const stream = await get(`${name}/_events?${parameter}=1`, { accept: "text/event-stream" });
    check(stream, { status: 400, problem: "INVALID_PARAMETER" });
    check(await get(`_events?${parameter}=1`), { status: 400, problem: "INVALID_PARAMETER" });
  }
});

test("Last-Event-ID beats lastEventId, which beats since", async () => {
  const name = newName();
  const after: string[] = [];
  for (let n = 0; n < 4; n++) {
    await service.create(name, { n });
    after.push(sinceOf(linkOf(await get(`${name}/_events?since=now`), "next")));
  }
  const firstWith = async (query: string, headers: Record<string, string> = {}) =>
    eventsOf(await get(`${name}/_events?${query}`, headers)).map(({ data }) => data.n);
  assert.deepEqual(await firstWith(`since=${after[0]}`), [1, 2, 3]);
  assert.deepEqual(await firstWith(`since=${after[0]}&lastEventId=${after[1]}`), [2, 3]);
  const header = { "last-event-id": after[2] ?? "" };
  assert.deepEqual(await firstWith(`since=${after[0]}&lastEventId=${after[1]}`, header), [3]);
  assert.deepEqual(await firstWith(`since=${after[0]}`, { "last-event-id": "" }), [1, 2, 3]);
  const stream = await follow(service, `/api/v1/${name}/_events?since=start`, {
    "last-event-id": after[1] ?? "",
  });
  assert.deepEqual(
    (await stream.take(2)).map(({ data }) => data.n),
    [2, 3],
  );
  stream.close();
});

test("HEAD answers as GET does, without a body, and opens no stream", async () => {
  const name = newName();
  await service.create(name, { n: 1 });
  const head = await service.send({ method: "HEAD", path: `/api/v1/${name}/_events` });
  const { headers } = await get(`${name}/_events`);
  for (const field of ["content-type", "link", "content-length", "cache-control"])
    assert.equal(head.headers[field], headers[field], field);
  assert.equal(head.bytes.length, 0);
  const stream: Request = {
    method: "HEAD",
    path: `/api/v1/${name}/_events`,
    headers: { accept: "text/event-stream" },
  };
  const answer = await service.send(stream);
  assert.deepEqual(
    [answer.status, answer.headers["content-type"]],
    [200, "text/event-stream; charset=utf-8"],
  );
});

test("other methods are refused, and no resource can have the name of the feed", async () => {
  const name = newName();
  for (const method of ["PUT", "POST", "PATCH", "DELETE", "QUERY"]) {
    for (const path of [`/api/v1/${name}/_events`, "/api/v1/_events"]) {
      const answer = await service.send({ method, path, content: {} });
      check(answer, { status: 405, problem: "METHOD_NOT_ALLOWED", headers: { Allow: "GET, HEAD, OPTIONS" } });
    }
  }
});

test("an empty page can wait for its first event", async () => {
  const name = newName();
  await service.create(name, { n: 0 });
  const now = linkOf(await get(`${name}/_events?since=now`), "next");
  const waiting = service.send({ path: `${now}&wait=60` });
  let isDone = false;
  void waiting.then(() => {
    isDone = true;
  });
  await service.send({ path: `/api/v1/${name}` });
  assert.equal(isDone, false);
  await service.create(name, { n: 1 });
  assert.deepEqual(
    eventsOf(await waiting).map(({ data }) => data.n),
    [1],
  );
  const over = await get(`${name}/_events?since=now&wait=1&n:gt=5`);
  assert.deepEqual(eventsOf(over), [], "the time is over");
  assert.match(linkOf(over, "next"), /n:gt=5&wait=1&since=/);
});

test("each page of a list that a feed can follow links to the events after it", async () => {
  const name = newName();
  for (let n = 0; n < 5; n++) await service.create(name, { n });
  const first = await get(`${name}?n:gte=1&limit=2&sort=-n&fields=n`);
  const monitor = linkOf(first, "monitor");
  assert.match(monitor, new RegExp(`^/api/v1/${name}/_events\\?n:gte=1&fields=n&since=[\\w-]+$`));
  await service.create(name, { n: 9 });
  const followed = eventsOf(await service.send({ path: monitor }));
  assert.deepEqual(
    followed.map((event) => [event.type, event.data.n]),
    [[`${name}.created`, 9]],
  );
  for (const query of ["id=1", "id:in=1,2"]) {
    const answer = await get(`${name}?${query}`);
    assert.equal(answer.status, 200, answer.text);
    assert.doesNotMatch(answer.headers.link ?? "", /monitor/, query);
  }
  assert.match(linkOf(await get(`${name}?since:eq=1`), "monitor"), /_events\?since:eq=1&since=/);
  assert.match(linkOf(await get(`${name}?lastEventId=1`), "monitor"), /_events\?lastEventId:eq=1&since=/);
  assert.match(linkOf(await get(`${name}?collection=x`), "monitor"), /_events\?collection=x&since=/);
});

test("the events after a list begin with the first change that its page does not have", async (t) => {
  const name = newName();
  await service.create(name, { n: 1 });
  afterNextList(t, () => service.create(name, { n: 2 }));
  const list = await get(name);
  assert.deepEqual(
    (list.json as { n: number }[]).map(({ n }) => n),
    [1],
  );
  const events = eventsOf(await service.send({ path: linkOf(list, "monitor") }));
  assert.deepEqual(
    events.map(({ data }) => data.n),
    [2],
  );
});
