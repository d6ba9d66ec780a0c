/** What compiles and what does not: this file is only looked at by the compiler, which refuses a vain ts-expect-error. */
import { createClient, type FromSchema, type ResourceOf } from "../../client/src/index.ts";
import { defineConfig } from "../../src/index.ts";
import type { config } from "./config.ts";

const client = createClient<typeof config>({ baseUrl: "http://localhost:3000/api/v1" });
const { articles, books, members, notes } = client;

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <_ extends true>(): void => {};

type Declared = (typeof config)["collections"];
holds<
  Same<
    ResourceOf<Declared["articles"]>,
    {
      readonly id: string;
      title: string;
      status?: "draft" | "published";
      views?: number;
      rating?: number | null;
      tags?: string[];
      author?: { name: string };
    }
  >
>();
holds<
  Same<
    ResourceOf<Declared["books"]>,
    {
      readonly id: number;
      title: string;
      year?: number;
      kind?: "novel" | "poems";
      readonly createdAt?: string;
      readonly updatedAt?: string;
    }
  >
>();
holds<Same<ResourceOf<Declared["members"]>, { readonly id: string; name: string; joinedOn: string }>>();
holds<Same<FromSchema<{ type: "array"; items: { type: "boolean" } }>, boolean[]>>();
holds<Same<FromSchema<{ static: "older TypeBox" }>, "older TypeBox">>();
holds<Same<FromSchema<{ type: "object"; additionalProperties: true }>, Record<string, unknown>>>();
holds<Same<FromSchema<{ $ref: "#/$defs/other" }>, unknown>>();
holds<Same<FromSchema<{ anyOf: [{ const: 1 }, { type: "string" }] }>, string | 1>>();

/** Never called: it is there to be compiled. */
export async function compile(): Promise<void> {
  // Collections
  // @ts-expect-error: there is no such collection
  client.article;

  // What is created
  await articles.create({ title: "Hello", author: { name: "Ann" }, rating: null });
  // @ts-expect-error: a required attribute is missing
  await articles.create({ views: 1 });
  // @ts-expect-error: no such attribute
  await articles.create({ title: "Hello", titel: "Hello" });
  // @ts-expect-error: no such attribute of the author
  await articles.create({ title: "Hello", author: { name: "Ann", nme: "Ann" } });
  // @ts-expect-error: the attribute is a number
  await articles.create({ title: "Hello", views: "1" });
  // @ts-expect-error: the attribute is one of two words
  await articles.create({ title: "Hello", status: "open" });
  // @ts-expect-error: the service sets it
  await members.create({ name: "Ann", joinedOn: "2026-01-31" });
  await members.create({ name: "Ann", password: "secret" });
  await notes.create({ whatever: [1, 2] });

  // What is read
  const article = await articles.get("1");
  const title: string = article.title;
  // @ts-expect-error: it may be absent
  const views: number = article.views;
  // @ts-expect-error: nobody can read it
  (await members.get("1")).password;
  // @ts-expect-error: only the title was asked for
  (await articles.get("1", { fields: ["title"] })).views;
  // @ts-expect-error: the id is a number here
  await books.get("1");
  // @ts-expect-error: the id is never changed
  article.id = title;

  // What is changed
  await articles.patch("1", { views: null, author: { name: "Bob" } });
  await articles.patch(article, [{ op: "remove", path: "/views" }]);
  // @ts-expect-error: a required attribute stays
  await articles.patch("1", { title: null });
  // @ts-expect-error: no such attribute
  await articles.patch("1", { titel: "Hello" });
  await articles.replace({ ...article, views: 2 });
  // @ts-expect-error: a replacement has the id
  await articles.replace({ title: "Hello" });
  await articles.update("1", (current) => ({ ...current, views: (current.views ?? 0) + 1 }));
  // @ts-expect-error: no such attribute is there to be read
  await articles.update("1", (current) => ({ ...current, views: current.view }));

  // What is asked of a list
  articles.list({
    filter: { views: { gte: 1, lt: 10 }, tags: { contains: "a" } },
    sort: ["-views", "title"],
  });
  articles.list({ filter: { "author.name": ["Ann", "Bob"], or: [{ status: "draft" }, { rating: null }] } });
  articles.list({
    filter: { not: { title: { startsWith: "a" } } },
    sort: "-author.name",
    q: "words",
    limit: 5,
  });
  // @ts-expect-error: no such attribute
  articles.list({ filter: { titel: "Hello" } });
  // @ts-expect-error: no such nested attribute
  articles.list({ filter: { "author.nam": "Ann" } });
  // @ts-expect-error: no such operator
  articles.list({ filter: { views: { between: [1, 2] } } });
  // @ts-expect-error: a number has no words
  articles.list({ filter: { views: { contains: "1" } } });
  // @ts-expect-error: the attribute is a number
  articles.list({ filter: { views: { gte: "1" } } });
  // @ts-expect-error: an array equals nothing
  articles.list({ filter: { tags: "a" } });
  // @ts-expect-error: no such attribute within the or
  articles.list({ filter: { or: [{ titel: "Hello" }] } });
  // @ts-expect-error: no such attribute
  articles.list({ sort: "-view" });
  // @ts-expect-error: no such attribute
  articles.list({ fields: ["view"] });
  // @ts-expect-error: no such parameter
  articles.list({ limits: 5 });
  for await (const { id, title } of articles.list({ fields: ["title"] })) console.log(id, title);

  // Events and live lists
  for await (const event of articles.events({ filter: { views: { gte: 1 } }, since: "start" })) {
    const position: string = event.position;
    if (event.type === "articles.deleted") {
      const id: string = event.data.id;
      // @ts-expect-error: a deleted resource has no attributes
      console.log(id, position, event.data.title);
    } else if (event.type === "holdfast.resync") {
      const reason: string = event.data.reason;
      console.log(reason);
    } else {
      const status: "draft" | "published" | undefined = event.data.status;
      const version: string = event.version;
      // @ts-expect-error: no such attribute
      console.log(status, version, event.data.titel);
    }
    // @ts-expect-error: no event has this type
    if (event.type === "books.created") console.log(event);
  }
  for await (const event of books.events({ fields: ["year"] })) {
    if (event.type !== "books.updated") continue;
    const id: number = event.data.id;
    // @ts-expect-error: only the year was asked for
    console.log(id, event.data.year, event.data.title);
  }
  for await (const event of client.$events({ collections: ["articles", "books"] })) {
    if (event.type === "books.created") console.log(event.data.year);
    if (event.type === "articles.deleted") console.log(event.data.id);
    // @ts-expect-error: this collection was not asked for
    if (event.type === "notes.created") console.log(event);
  }
  // @ts-expect-error: there is no such collection
  client.$events({ collections: ["article"] });
  // @ts-expect-error: no such attribute
  articles.events({ filter: { titel: "Hello" } });
  // @ts-expect-error: the attribute is a number
  articles.events({ filter: { views: { gte: "1" } } });
  // @ts-expect-error: feeds have no filters by id
  articles.events({ filter: { id: "1" } });
  // @ts-expect-error: feeds have the order of the changes
  articles.events({ sort: "views" });
  for await (const items of articles.live({
    filter: { status: "draft" },
    sort: ["-views", "id"],
    limit: 5,
  })) {
    const titles: string[] = items.map(({ title }) => title);
    // @ts-expect-error: the array is frozen
    items.push(titles);
  }
  articles.live({ fields: ["title", "author"], sort: ["title", "author.name"] });
  // @ts-expect-error: the attribute that it is sorted by is not read
  articles.live({ fields: ["title"], sort: "views" });
  // @ts-expect-error: a live list has no search
  articles.live({ q: "words" });
  // @ts-expect-error: feeds have no filters by id
  articles.live({ filter: { id: "1" } });
  for await (const [note] of notes.live({ filter: { whatever: 1 } })) console.log(note?.whatever);

  // Batches
  const [book, , gone] = await client.$batch(({ articles, books }) => {
    const book = books.create({ title: "Emma" });
    return [book, books.patch(book, { year: 1815 }), articles.delete(article)];
  });
  const year: number | undefined = book.year;
  const nothing: undefined = gone;
  // @ts-expect-error: no such attribute
  await client.$batch(({ books }) => [books.create({ title: "Emma", yaer: 1815 })]);

  // Configurations
  // @ts-expect-error: no such option
  defineConfig({ collectoins: {} });
  // @ts-expect-error: no such member of a declaration
  defineConfig({ collections: { articles: { shema: {} } } });
  // @ts-expect-error: ids are made in one of two ways
  defineConfig({ collections: { articles: { id: "number" } } });

  console.log(views, year, nothing);
}
