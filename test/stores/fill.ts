/** Fills a store with every kind of content, through requests of clients. */
import assert from "node:assert/strict";
import type { Answer, Ask } from "./look.ts";
import type { Contents, Kept } from "./release.ts";

const text = (maxLength: number) => ({ type: "string", maxLength });

/** The configuration of the store: every kind of declaration, and undeclared collections. */
export const config = {
  openCollections: true,
  history: "forever",
  auth: { keys: true },
  collections: {
    people: {
      schema: {
        type: "object",
        required: ["name", "email"],
        properties: { name: text(200), email: text(200), born: { type: "string", format: "date" }, note: {} },
      },
      unique: [{ attribute: "email", ignoreCase: true }],
      indexes: ["name", "-born"],
      search: ["name"],
      timestamps: true,
    },
    articles: {
      id: "integer",
      schema: {
        type: "object",
        required: ["title", "authorId"],
        properties: {
          title: text(200),
          slug: text(100),
          text: text(100_000),
          views: { type: "number" },
          authorId: { type: "string" },
          reviewerId: { type: "string" },
          tags: { type: "array", items: text(50) },
        },
      },
      unique: ["slug"],
      references: {
        authorId: { collection: "people", onDelete: "cascade" },
        reviewerId: { collection: "people", onDelete: "clear" },
      },
      indexes: ["-views", ["authorId", "title"]],
      search: ["title", "text", "tags"],
      defaults: { views: 0 },
      timestamps: true,
    },
  },
};

const lists = [
  "/people?sort=name",
  "/people?sort=-born",
  "/people?q=zofie",
  "/people?email=ada@example.org",
  "/articles?sort=-views",
  "/articles?q=WINT&sort=title",
  "/articles?q=冬",
  "/articles?views:gte=1&sort=-views",
  "/articles?limit=1000",
  "/notes?limit=1000",
  "/Trees-2?limit=1000",
];

/** Values that are difficult to store. */
const strange = [
  { text: "Ünïcödé, 日本語, العربية, \u{1f600}, e\u0301 and é, \u2028, \\, \", '" },
  {
    numbers: "these",
    zero: 0,
    small: 5e-324,
    large: 1.7976931348623157e308,
    exact: 9007199254740991,
    part: 0.1,
  },
  { nothing: null, yes: true, no: false, empty: "", list: [], object: {}, deep: [[[{ a: [1, "2", null] }]]] },
  { "": "a name without characters", "a.b": 1, "a/b": 2, "~": 3, __proto: 4, "10": 5, "9": 6 },
  { long: "é".repeat(3_000) },
];

/** Fills the store of a service. Returns its contents, without the result of `look`. */
export async function fill(ask: Ask): Promise<Omit<Contents, "key" | "found">> {
  const people = await makePeople(ask);
  const articles = await makeArticles(ask, people);
  const { notes, receipts } = await makeNotes(ask);
  return { config, ids: { people, articles, notes }, lists, receipts };
}

async function makePeople(ask: Ask): Promise<string[]> {
  const ids: string[] = [];
  for (const person of [
    { name: "Ada Lovelace", email: "ada@example.org", born: "1815-12-10" },
    { name: "Žofie Nováková \u{1f600}", email: "ZOFIE@example.org", note: { langs: ["cs", "čeština"] } },
    { name: "林黛玉", email: "lin@example.org", born: "1763-01-01", note: null },
    { name: "Reviewer", email: "reviewer@example.org" },
    { name: "Deleted for good", email: "gone@example.org" },
    { name: "Deleted and back", email: "back@example.org" },
    { name: "With articles", email: "cascade@example.org" },
  ])
    ids.push(await create(ask, "people", person));
  const [ada, zofie, , , gone, back] = ids;
  await done(ask("PATCH", `/people/${ada}`, { note: "first" }));
  await done(ask("PATCH", `/people/${ada}`, { note: "second" }, { "if-match": '"2"' }));
  const replacement = { id: zofie, name: "Žofie Nová", email: "zofie@example.org", born: "1990-02-28" };
  await done(ask("PUT", `/people/${zofie}`, replacement));
  await done(ask("DELETE", `/people/${gone}`));
  await done(ask("DELETE", `/people/${back}`));
  await done(ask("POST", `/people/${back}/_restore`, { version: 1 }));
  return ids;
}

async function makeArticles(ask: Ask, people: readonly string[]): Promise<number[]> {
  const [ada, zofie, lin, reviewer, , , cascade] = people;
  const ids: number[] = [];
  for (const article of [
    {
      title: "Winter",
      slug: "winter",
      authorId: ada,
      reviewerId: reviewer,
      text: "snow ".repeat(200),
      views: 7,
    },
    { title: "Zima v Čechách", slug: "zima", authorId: zofie, tags: ["winter", "čeština"], views: 12.5 },
    { title: "冬の夜", slug: "fuyu", authorId: lin, reviewerId: reviewer, views: -1 },
    { title: "Followed", slug: "followed", authorId: cascade },
    { title: "To be deleted", slug: "deleted", authorId: ada },
  ])
    ids.push(await create(ask, "articles", article));
  await done(ask("DELETE", `/articles/${ids[4]}`));
  await done(ask("DELETE", `/people/${cascade}`)); // also deletes an article
  await done(ask("DELETE", `/people/${reviewer}`)); // also removes the id from two articles
  const operations = [
    { method: "POST", path: "/articles", body: { title: "In a batch", slug: "batch", authorId: ada } },
    { method: "PATCH", path: `/articles/${ids[0]}`, body: { views: 8 } },
  ];
  const batch = await done(ask("POST", "/_batch", { operations }));
  const made = JSON.parse(batch.text) as { results?: { body: { id: number } }[] };
  ids.push(made.results?.[0]?.body.id ?? assert.fail(batch.text));
  return ids;
}

async function makeNotes(ask: Ask): Promise<{ notes: string[]; receipts: Kept[] }> {
  const notes: string[] = [];
  for (const note of strange) notes.push(await create(ask, "notes", note));
  for (let n = 0; n < 30; n++) await create(ask, "Trees-2", { n, squared: n * n });
  const receipts: Kept[] = [];
  const once = async (method: string, path: string, content: object, key: string) => {
    const headers = { "content-type": "application/json", "idempotency-key": key };
    const body = JSON.stringify(content);
    const { status, text } = await done(ask(method, path, body, headers));
    receipts.push({ method, path, headers, body, status, text });
    return JSON.parse(text) as { id: string };
  };
  // Large enough for the change log to keep differences.
  const large = await create<string>(ask, "notes", { n: 1, large: "é large text, ".repeat(500) });
  for (let n = 2; n <= 5; n++) await done(ask("PATCH", `/notes/${large}`, { n, last: "x".repeat(n) }));
  notes.push(large);
  const { id } = await once("POST", "/notes", { once: "é 😀" }, '"first"');
  notes.push(id);
  await once("PATCH", `/notes/${id}`, { twice: true }, '"second"');
  return { notes, receipts };
}

async function create<Id extends string | number>(ask: Ask, collection: string, value: object): Promise<Id> {
  const { text } = await done(ask("POST", `/${encodeURIComponent(collection)}`, value));
  return (JSON.parse(text) as { id: Id }).id;
}

/** Throws if the response is an error. */
async function done(asked: Promise<Answer>): Promise<Answer> {
  const answer = await asked;
  assert.ok(answer.status < 300, `${answer.status} ${answer.text}`);
  return answer;
}
