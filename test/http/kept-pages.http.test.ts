/** A store keeps pages in memory, and the service keeps what it made of them. Every response must still fit its request. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { auth, type Caller, createAs, sendAs } from "./access/callers.ts";
import { links } from "./check.ts";
import { startFor, startServiceForFile } from "./service.ts";

const text = { type: "string" };
const service = await startServiceForFile({
  auth,
  collections: {
    people: {
      schema: { type: "object", properties: { name: text, salary: { type: "integer" } } },
      attributes: { salary: { roles: ["hr"] } },
      access: { read: "authenticated", create: { role: "hr" }, update: { role: "hr" } },
    },
    notes: {
      schema: { type: "object", properties: { authorId: text } },
      references: { authorId: { collection: "people", as: "author" } },
      access: { read: "authenticated", create: { role: "hr" } },
    },
    articles: {
      schema: { type: "object", properties: { title: text, salary: { type: "integer" }, authorId: text } },
      references: { authorId: { collection: "people", as: "author" } },
      attributes: { salary: { roles: ["hr"] } },
      access: { read: "authenticated", create: { role: "hr" } },
    },
  },
});

const author = await createAs(service, "hans", "people", { name: "Ada", salary: 1 });
await createAs(service, "hans", "articles", { title: "One", salary: 2, authorId: author.id });
await createAs(service, "hans", "notes", { authorId: author.id });

const list = async (who: Caller, query: string, headers: Record<string, string> = {}) => {
  const {
    status,
    text: body,
    headers: fields,
  } = await sendAs(service, who, {
    path: `/api/v1/${query}`,
    headers,
  });
  return { status, body, type: fields["content-type"], etag: fields.etag, link: fields.link };
};

test("lists of one page do not get each other's response, in whichever order they are requested", async () => {
  const requests: (readonly [Caller, string, Record<string, string>?])[] = [
    ["hans", "articles"],
    ["bob", "articles"],
    ["hans", "articles", { Accept: "application/x-ndjson" }],
    ["hans", "articles", { Accept: "text/csv" }],
    ["hans", "articles?envelope=true"],
    ["hans", "articles?fields=title"],
    ["hans", "articles?embed=author"],
    ["bob", "articles?embed=author"],
    ["hans", "notes?embed=author"],
    ["bob", "notes?embed=author"],
    ["hans", "articles?embed=author", { Accept: "application/x-ndjson" }],
  ];
  const alone: { n: number; request: (typeof requests)[number]; answer: Awaited<ReturnType<typeof list>> }[] =
    [];
  for (const [n, request] of requests.entries()) alone.push({ n, request, answer: await list(...request) });
  const size = requests.length;
  for (let step = 1; step < size; step++)
    for (const { request, answer } of alone.toSorted((a, b) => ((a.n * step) % size) - ((b.n * step) % size)))
      for (let times = 0; times < 2; times++)
        assert.deepEqual(await list(...request), answer, String(request));
  const tags = new Set(alone.map(({ answer }) => answer.etag));
  assert.equal(tags.size, size - 2); // "envelope" and "fields" are in the URL
  const { body = "" } = alone[1]?.answer ?? {};
  assert.ok(body.includes("One") && !body.includes("salary"), body);
});

test("callers who request a new page at the same time do not get each other's related resources", async () => {
  for (let round = 0; round < 60; round++) {
    await createAs(service, "hans", "notes", { authorId: author.id });
    const callers = Array.from({ length: 8 }, (_, n) => (n % 2 === 0 ? "hans" : "bob"));
    const answers = await Promise.all(callers.map((who) => list(who, "notes?embed=author&limit=1")));
    for (const [n, { body = "" }] of answers.entries())
      assert.equal(body.includes("salary"), callers[n] === "hans", body);
  }
});

test("a page with related resources is current, however often it was requested before", async () => {
  for (const name of ["Bea", "Cleo"]) {
    for (let times = 0; times < 3; times++) await list("hans", "articles?embed=author");
    const content = { id: author.id, name, salary: 1 };
    await sendAs(service, "hans", { method: "PUT", path: author.path, content });
    const { body } = await list("hans", "articles?embed=author");
    assert.ok(body.includes(name), body);
  }
});

test("a collection that does not exist has its own links in each service of a process", async (t) => {
  for (let n = 0; n < 2; n++) {
    const one = await startFor(t);
    const { monitor = "" } = links(await one.send({ path: "/api/v1/notes" }));
    assert.match(monitor, /_events\?since=/);
    assert.equal((await one.send({ path: monitor })).status, 200);
  }
});
