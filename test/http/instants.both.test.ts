/** Filters by dates: a date is compared by its instant, in whatever form it is written and stored. */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { machineTime, until } from "../until.ts";
import { auth } from "./access/callers.ts";
import { check } from "./check.ts";
import { datedCollections, datedSchema as schema } from "./dated.ts";
import { linkOf } from "./follow.ts";
import { pagesFrom } from "./pages.ts";
import { type Answer, type Service, startFor, startServiceForFile } from "./service.ts";

const service = await startServiceForFile({ collections: datedCollections, openCollections: true });
const times = ["09:59:59.999", "10:00:00.000", "10:00:00.500", "11:00:00.000"].map(
  (each) => `2026-11-23T${each}Z`,
);
const [before10, at10, after10, at11] = times;
const made: { id: string }[] = [];
before(async () => {
  for (const [n, at] of times.entries()) made.push(await service.create("events", { at, n }));
});

const list = (query: string, collection = "events", on: Service = service): Promise<Answer> =>
  on.send({ path: `/api/v1/${collection}?${query}` });
const post = (path: string, content: unknown) =>
  service.send({ method: "POST", path: `/api/v1/${path}`, content });

async function valuesOf(query: string, attribute = "at", collection = "events"): Promise<unknown[]> {
  const answer = await list(query, collection);
  assert.equal(answer.status, 200, `${query}: ${answer.text}`);
  return (answer.json as Record<string, unknown>[]).map((each) => each[attribute]);
}

/** What each operand finds, in the order of the resources. */
const found: Record<string, readonly unknown[]> = {
  "at:gte=2026-11-23T10:00:00Z": [at10, after10, at11],
  "at:gt=2026-11-23T10:00:00Z": [after10, at11],
  "at:gte=2026-11-23T11:00:00%2B01:00": [at10, after10, at11],
  "at:lt=2026-11-23T04:00-06:00": [before10],
  "at:lte=2026-11-23t10:00:00z": [before10, at10],
  "at:lt=2026-11-23T10:00:00.0000001Z": [before10, at10],
  "at:gt=2026-11-23T09:59:59.9989999Z": [before10, at10, after10, at11],
  "at:gte=1795428000000": [at10, after10, at11],
  "at:gte=2026-11-23": [before10, at10, after10, at11],
  "at:gt=2026-11-24": [],
  "at:eq=2026-11-23T12:00%2B02:00": [at10],
  "at:eq=2026-11-23T10:00:00.0001Z": [],
  "at:ne=2026-11-23T10:00Z": [before10, after10, at11],
  "at:in=2026-11-23T10:00:00Z,2026-11-23T12:00:00%2B01:00": [at10, at11],
  "at:gt=2026-11-23T10:00Z&sort=at&limit=1": [after10],
  "at:lte=8640000000000000": [before10, at10, after10, at11],
  "at:gt=-8640000000000000": [before10, at10, after10, at11],
  "at:lt=-8640000000000000": [],
  'filter={"at":{"gte":"2026-11-23T10:00:00%2B00:00","lt":1795431600000}}': [at10, after10],
  "createdAt:lt=2026-01-01&fields=at": [],
  "createdAt:gt=2026-01-01T00:00Z&n=1": [at10],
  "due=null": [],
  "at:startsWith=2026-11-23T10": [at10, after10],
};
for (const [query, expected] of Object.entries(found))
  test(`a date is compared by its instant: ${query}`, async () => {
    assert.deepEqual(await valuesOf(query), expected);
  });

test("a list is in the order of the instants, in whatever form the dates are", async () => {
  const [early, middle, late] = ["2026-11-23T09:15:00.000Z", 1_795_428_000_000, "2026-11-23T10:30:00.000Z"];
  for (const any of [late, early, middle]) await service.create("sorted", { any });
  assert.deepEqual(await valuesOf("sort=any", "any", "sorted"), [early, middle, late]);
  assert.deepEqual(await valuesOf("sort=-any", "any", "sorted"), [late, middle, early]);
});

test("a bulk change deletes only what is earlier", async () => {
  const name = "notes";
  for (const at of times) await service.create(name, { at });
  const answer = await post(`${name}/_bulk`, {
    filter: { at: { lt: "2026-11-23T10:00:00Z" } },
    delete: true,
    max: 9,
  });
  check(answer, { status: 200 });
  assert.deepEqual(await valuesOf("", "at", name), [at10, after10, at11]);
});

const refused: Record<string, RegExp> = {
  "createdAt:gte=yesterday":
    /"createdAt:gte" is a date and cannot be compared with "yesterday"\. Write an existing date such as 2026-01-31/,
  "due=2026-02-30": /"2026-02-30"/,
  "at:gt=2026": /Write an existing date/,
  "at:gt=2026-11-23T10:00:00": /Write an existing date/,
  "at:gt=2026-11-23T10:00:00+01:00": /write "\+" as %2B/,
  "at:in=2026-11-23,soon": /"soon"/,
  'filter={"any":{"ne":"2026-13-01"}}': /"2026-13-01"/,
};
for (const [query, message] of Object.entries(refused))
  test(`an operand that is no date is refused: ${query}`, async () => {
    const answer = await list(query);
    check(answer, { status: 400, problem: "INVALID_PARAMETER" });
    assert.match((answer.json as { detail: string }).detail, message);
  });

test("an attribute that the schema declares as a text is compared as a text, also with a whole time", async () => {
  const all = ["2026-11-23T10:00Z", "2026-11-23T11:00+01:00", "zz"];
  for (const owner of all) await service.create("texts", { owner });
  const of = (query: string) => valuesOf(query, "owner", "texts");
  assert.deepEqual(await of("owner=2026-11-23T10:00Z"), [all[0]]);
  assert.deepEqual(await of("owner:ne=2026-11-23T10:00Z"), all.slice(1));
  assert.deepEqual(await of("owner:gt=2026-11-23T10:00Z"), all.slice(1));
  assert.deepEqual(await of('filter={"owner":["2026-11-23T10:00Z","zz"]}'), [all[0], "zz"]);
});

test("without a schema, a whole time is compared with whole times, and every other operand as before", async () => {
  const all = [
    "2026-11-23T10:00:00Z",
    "2026-11-23T11:00:00.50+01:00",
    "2026-11-23T08:30:00Z",
    "2026-11-24",
    "zz",
    7,
  ];
  for (const at of all) await service.create("open", { at });
  const of = (query: string) => valuesOf(query, "at", "open");
  assert.deepEqual(await of("at:gte=2026-11-23T10:00:00.000Z"), [all[0], all[1]]);
  assert.deepEqual(await of("at:gt=2026-11-23T11:00:00%2B01:00"), [all[1]]);
  assert.deepEqual(await of("at:eq=2026-11-23T05:00:00.00-05:00"), [all[0]]);
  assert.deepEqual(await of("at:ne=2026-11-23T05:00-05:00"), all.slice(1));
  assert.deepEqual(await of('filter={"at":["2026-11-23T10:00Z","zz",7]}'), [all[0], "zz", 7]);
  assert.deepEqual(await of("at:gte=2026-11-24"), ["2026-11-24", "zz"]);
  assert.deepEqual(await of("at:lt=2026-11-23T09"), ["2026-11-23T08:30:00Z"]);
});

const hour = 3_600_000;
const inForm = (distance: number) => new Date(machineTime() + distance).toISOString();

test("a filter can compare with the time of the request", async () => {
  const name = "reminders";
  const distances = { old: -200 * hour, recent: -2 * hour, soon: 2 * hour, late: 200 * hour };
  const ids = new Map<string, string>();
  for (const [title, distance] of Object.entries(distances)) {
    const at = inForm(distance);
    ids.set(title, (await service.create(name, { title, at, due: at.slice(0, 10), all: [at] })).id);
  }
  for (const title of ["recent", "late"])
    await service.create("followups", { title, reminderId: ids.get(title) });
  const titles = async (query: string, collection = name) =>
    (await valuesOf(query, "title", collection)).sort();
  assert.deepEqual(await titles("at:lt=now"), ["old", "recent"]);
  assert.deepEqual(await titles("at:gt=now&at:lt=now%2B1w"), ["soon"]);
  assert.deepEqual(await titles("at:gte=now-7d&at:lte=now%2B240m"), ["recent", "soon"]);
  assert.deepEqual(await titles("at:gt=now%2B10000s"), ["late"]);
  assert.deepEqual(await titles("due:gte=today-1d&due:lte=today%2B1d"), ["recent", "soon"]);
  assert.deepEqual(await titles("due:lt=today-1w"), ["old"]);
  assert.deepEqual(await titles("createdAt:gt=now-1h&at:gt=now"), ["late", "soon"]);
  assert.deepEqual(await titles("createdAt:lt=now-1h"), []);
  assert.deepEqual(await titles('filter={"or":[{"at":{"lt":"now-1d"}},{"not":{"at":{"lt":"now%2B1d"}}}]}'), [
    "late",
    "old",
  ]);
  assert.deepEqual(await titles("reminder.at:lt=now", "followups"), ["recent"]);
  const path = `/api/v1/${name}`;
  const filter = { at: { gte: "now" } };
  const queried = await service.send({ method: "QUERY", path, content: { filter } });
  assert.equal((queried.json as unknown[]).length, 2);
  const figures = await list("at:lt=now&aggregate=count", name);
  assert.deepEqual(figures.json, [{ count: 2 }]);
  const changed = await post(`${name}/_bulk`, { filter: { at: { lt: "now-7d" } }, delete: true, max: 9 });
  check(changed, { status: 200 });
  assert.deepEqual(await titles(""), ["late", "recent", "soon"]);
});

/** An answer that changes as time passes. */
const passing = { status: 200, headers: { "cache-control": "no-store", etag: undefined } } as const;

test("the links of such a list lead to all of its resources while time passes", async () => {
  const name = "walked";
  for (let n = 0; n < 5; n++) await service.create(name, { at: inForm(-n * hour) });
  const seen: unknown[] = [];
  for await (const answer of pagesFrom(service.send, `/api/v1/${name}?at:lte=now&sort=at&limit=2`)) {
    check(answer, passing);
    seen.push(...(answer.json as { at: string }[]).map(({ at }) => at));
  }
  assert.deepEqual(seen, [...seen].sort());
  assert.equal(seen.length, 5);
});

test("no client stores a response that changes as time passes", async () => {
  const name = "kept";
  const soon = await service.create(name, { at: inForm(800), n: 1 });
  const fixed = await list("n=1", name);
  assert.equal(fixed.headers["cache-control"], "no-cache");
  for (const query of [
    "at:lte=now",
    "at:lte=now&aggregate=count",
    "at:lte=now&embed=host",
    "at:lte=now&count=exact",
  ]) {
    const answer = await list(query, name);
    check(answer, passing);
    assert.doesNotMatch(answer.headers.link ?? "", /monitor/);
    const path = `/api/v1/${name}?${query}`;
    const headers = { "if-none-match": `*, ${fixed.headers.etag}` };
    check(await service.send({ path, headers: { "if-none-match": "*" } }), passing);
    check(await service.send({ path, headers }), passing);
    check(await service.send({ path, headers: { "if-match": '"1"' } }), {
      status: 412,
      problem: "PRECONDITION_FAILED",
    });
  }
  // No change comes between the answers.
  await until("the time has come", async () => (await idsIn("at:lte=now", name)).includes(soon.id));
  assert.deepEqual((await list("at:lte=now&aggregate=count", name)).json, [{ count: 1 }]);
  assert.deepEqual(await idsIn("at:gt=now", name), []);
});

async function idsIn(query: string, collection: string): Promise<unknown[]> {
  return ((await list(query, collection)).json as { id: string }[]).map(({ id }) => id);
}

test("feeds and webhooks refuse such a filter, because no event comes when time passes", async () => {
  const feed = await service.send({ path: "/api/v1/reminders/_events?at:lt=now" });
  check(feed, { status: 400, problem: "INVALID_PARAMETER" });
  assert.match(
    (feed.json as { detail: string }).detail,
    /"at:lt" cannot be compared with "now" here, because .* none when time passes/,
  );
  const webhook = await post("_webhooks", {
    url: "http://127.0.0.1:9/",
    collections: ["reminders"],
    filter: { due: { lte: "today" } },
  });
  check(webhook, { status: 400, problem: "VALIDATION_FAILED" });
  assert.match(webhook.text, /none when time passes/);
});

for (const operand of ["now-7", "now-7y", "now-7D", "tomorrow", "now+7d", "now-1000000d", "Now", "today-1"])
  test(`"${operand}" is no time from now, and the message shows one`, async () => {
    const answer = await list(`at:lt=${operand}`, "reminders");
    check(answer, { status: 400, problem: "INVALID_PARAMETER" });
    assert.match((answer.json as { detail: string }).detail, /such as (?:today or )?now-7d/);
  });

test("without a schema, such a word is a text", async () => {
  for (const at of ["now", "old"]) await service.create("words", { at });
  assert.deepEqual(await valuesOf("at:eq=now", "at", "words"), ["now"]);
});

test("a QUERY that compares with the time of the request has the URL of the same list, and its pages", async (t) => {
  const service = await startFor(t, { collections: { posts: { schema } } });
  const ids: string[] = [];
  for (const at of [-hour, -2 * hour]) ids.push((await service.create("posts", { at: inForm(at) })).id);
  const filter = { or: [{ at: { gte: "now-7d", lt: "now" } }, { at: { lt: "today-90d" } }] };
  const query = { method: "QUERY", path: "/api/v1/posts" };
  for (let n = 0; n < 5; n++) {
    const answer = await service.send({ ...query, content: { filter, limit: 1 } });
    check(answer, { status: 200, headers: { "cache-control": "no-store", location: /now-7d/ } });
    const rest = await service.send({ path: linkOf(answer, "next") });
    assert.deepEqual(
      (rest.json as { id: string }[]).map(({ id }) => id),
      ids.slice(1),
    );
    const figures = await service.send({ ...query, content: { filter, aggregate: ["count"] } });
    check(figures, { status: 200, headers: { "cache-control": "no-store", location: /now-7d/ } });
  }
});

test("a rule that compares with the time of the request is applied when a request comes", async (t) => {
  const access = { read: { where: { at: { lte: "now" } } }, write: "public" } as const;
  const timed = await startFor(t, {
    auth,
    collections: { posts: { schema, access } },
  });
  const past = await timed.create("posts", { at: inForm(-hour) });
  const soon = (await timed.send({ method: "POST", path: "/api/v1/posts", content: { at: inForm(1_000) } }))
    .headers;
  const ids = async () => {
    const answer = await timed.send({ path: "/api/v1/posts" });
    assert.equal(answer.headers.etag, undefined);
    return (answer.json as { id: string }[]).map(({ id }) => id);
  };
  assert.ok((await ids()).includes(past.id));
  const events = "/api/v1/posts/_events";
  const next = linkOf(await timed.send({ path: `${events}?since=now` }), "next");
  const waiting = timed.send({ path: `${next}&wait=50` });
  await until("the post has appeared", async () => (await ids()).length === 2);
  const read = await timed.send({ path: String(soon.location) });
  check(read, { status: 200, headers: { "cache-control": "private, no-cache" } });
  const figures = await timed.send({ path: "/api/v1/posts?aggregate=count" });
  assert.deepEqual(figures.json, [{ count: 2 }]);
  // The request for events began before the time of the post.
  const patch = { method: "PATCH", path: String(soon.location), content: { n: 1 } };
  check(await timed.send(patch), { status: 200 });
  const [event] = (await waiting).json as { type: string }[];
  assert.equal(event?.type, "posts.updated");
});
