/** The types of the client: what compiles and what does not. Only the compiler reads this file. It refuses a ts-expect-error without an error. */
import { createClient, type FromSchema, type ResourceOf } from "../../client/src/index.ts";
import type { Operators } from "../../client/src/list-types.ts";
import type { InputOf } from "../../client/src/resource-types.ts";
import { defineConfig } from "../../src/index.ts";
import type { OperatorName } from "../../src/query/operators.ts";
import type { config } from "./config.ts";

const client = createClient<typeof config>({ baseUrl: "http://localhost:3000/api/v1" });
const { articles, books, members, notes, loans, shelves } = client;

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
holds<
  Same<
    InputOf<{
      schema: {
        type: "object";
        required: ["a", "b"];
        properties: { a: { type: "string" }; b: { type: "string"; default: "x" } };
      };
    }>,
    { readonly id?: unknown; a: string; b?: string }
  >
>();
holds<Same<FromSchema<{ type: "array"; items: { type: "boolean" } }>, boolean[]>>();
holds<Same<FromSchema<{ static: "older TypeBox" }>, "older TypeBox">>();
holds<Same<FromSchema<{ type: "object"; additionalProperties: true }>, Record<string, unknown>>>();
holds<Same<FromSchema<{ $ref: "#/$defs/other" }>, unknown>>();
holds<Same<FromSchema<{ anyOf: [{ const: 1 }, { type: "string" }] }>, string | 1>>();
holds<Same<FromSchema<{ type: "string"; format: "decimal" }>, `${number}`>>();
holds<Same<FromSchema<{ type: ["string", "null"]; format: "int64" }>, `${number}` | null>>();
holds<Same<FromSchema<{ type: "integer"; format: "int64" }>, number>>();

const computing = defineConfig({
  collections: {
    orders: {
      schema: { type: "object", required: ["price"], properties: { price: { type: "number" } } },
      computed: {
        total: { schema: { type: "number" }, from: ["price"], value: ({ price }) => Number(price) * 2 },
        other: { from: ["price"], value: () => undefined },
      },
    },
  },
});
type Ordered = (typeof computing)["collections"]["orders"];
holds<
  Same<
    ResourceOf<Ordered>,
    { readonly id: string; price: number; readonly total?: number; readonly other?: unknown }
  >
>();
holds<Same<InputOf<Ordered>, { readonly id?: unknown; price: number }>>();

const sold = {
  collections: {
    sales: {
      schema: {
        type: "object",
        properties: { price: { type: "string", format: "decimal" }, title: { type: "string" } },
      },
    },
  },
} as const;

/** Never called. Only its types matter. */
export async function exactNumbers() {
  const { sales } = createClient<typeof sold>({ baseUrl: "http://localhost:3000/api/v1" });
  await sales.create({ price: "12.50" });
  // @ts-expect-error
  await sales.create({ price: "twelve" });
  // @ts-expect-error
  await sales.create({ price: 12.5 });
  await sales.update("1", { price: { $increment: "0.10" } });
  await sales.update("1", { price: { $max: 2 } });
  // @ts-expect-error
  await sales.update("1", { price: { $increment: "x" } });
  // @ts-expect-error
  await sales.update("1", { title: { $increment: "1" } });
  await sales.list({ filter: { price: { gte: "10" } }, sort: "-price" }).page();
  for await (const group of sales.figures({
    aggregate: ["sum(price)", "avg(price)", "min(price)", "count"],
  })) {
    holds<Same<(typeof group)["sum(price)"], `${number}` | null>>();
    holds<Same<(typeof group)["avg(price)"], `${number}` | null>>();
    holds<Same<(typeof group)["min(price)"], `${number}` | null>>();
    holds<Same<(typeof group)["count"], number>>();
  }
  // @ts-expect-error
  sales.figures({ aggregate: ["sum(title)"] });
  sales.live({ sort: "-price", exact: ["price"] });
}

holds<Same<Parameters<typeof articles.by>[0]["title"], string | undefined>>();

declare const orderDeclaration: {
  schema: {
    type: "object";
    properties: {
      lines: {
        type: "array";
        items: { type: "object"; properties: { sku: { type: "string" }; qty: { type: "integer" } } };
      };
    };
  };
};

/** Never called. Only its types matter. */
export async function compile(): Promise<void> {
  // Collections
  // @ts-expect-error: the collection does not exist
  client.article;

  // Writes by a unique key
  await articles.by({ title: "Hello" }).put({ title: "Hello", views: 1 });
  await articles.by({ title: "Hello", "author.name": "Ann" }).update({ views: { $increment: 1 } });
  // @ts-expect-error: no such attribute
  articles.by({ titel: "Hello" });
  // @ts-expect-error: the attribute is a text
  articles.by({ title: 7 });
  // @ts-expect-error: a required attribute is missing
  await articles.by({ title: "Hello" }).put({ views: 1 });

  // Creates
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
  await articles.create({ title: "Hello" }, { id: "own" });
  // @ts-expect-error: ids of articles are texts
  await articles.create({ title: "Hello" }, { id: 7 });
  // @ts-expect-error: the service counts the ids of books
  await books.create({ title: "Emma" }, { id: 7 });
  // @ts-expect-error: the service sets it
  await members.create({ name: "Ann", joinedOn: "2026-01-31" });
  await members.create({ name: "Ann", password: "secret" });
  await notes.create({ whatever: [1, 2] });

  // Related resources
  const [loan] = await loans
    .list({ embed: { shelf: { embed: { owner: true } }, readers: { limit: 2 } } })
    .all();
  const owner: string | undefined = loan?.shelf?.owner?.name;
  const readers: string[] | undefined = loan?.readers.map(({ name }) => name);
  const more: string | undefined = loan?._next?.readers;
  const unseen: readonly ("shelf" | "readers")[] | undefined = loan?._hidden;
  const days: number | undefined = loan?.days;
  // @ts-expect-error: it was not embedded
  loan?.borrower;
  // @ts-expect-error: it can be null
  loan?.shelf.name;
  const member = await members.get("1", { fields: ["name"], embed: { borrowed: { sort: "-days" } } });
  const lent: (number | undefined)[] = member.borrowed.map((each) => each.days);
  // @ts-expect-error: only the name was requested
  member.joinedOn;
  const unnamed = await members.get("1");
  // @ts-expect-error: nothing was embedded
  unnamed.shelves;
  // @ts-expect-error: no such relation
  await loans.list({ embed: { shelv: true } }).all();
  // @ts-expect-error: no such relation of a shelf
  await loans.list({ embed: { shelf: { embed: { ownr: true } } } }).all();
  const chosen = await shelves
    .list({
      fields: ["-name"],
      embed: { loans: { filter: { days: { gte: 2 } }, fields: ["days"], sort: "-days", limit: 3 } },
    })
    .all();
  const daysOf: (number | undefined)[] | undefined = chosen[0]?.loans.map((each) => each.days);
  const ownerId: string | undefined = chosen[0]?.ownerId;
  // @ts-expect-error: it was left out
  chosen[0]?.name;
  // @ts-expect-error: only the days were requested
  chosen[0]?.loans[0]?.memberId;
  const [partly] = await loans.list({ embed: { borrower: { fields: ["-joinedOn"] } } }).all();
  const partlyName: string | undefined = partly?.borrower?.name;
  // @ts-expect-error: it was left out there
  partly?.borrower?.joinedOn;
  // @ts-expect-error: no such attribute of a loan
  await shelves.list({ embed: { loans: { filter: { dayz: 1 } } } }).all();
  // @ts-expect-error: the attribute is a number
  await shelves.list({ embed: { loans: { filter: { days: { gt: "3" } } } } }).all();
  // @ts-expect-error: conditions only
  await shelves.list({ embed: { loans: { filter: { or: [{ days: 1 }] } } } }).all();
  // @ts-expect-error: no such attribute of a loan to leave out
  await shelves.list({ embed: { loans: { fields: ["-dayz"] } } }).all();
  // @ts-expect-error: a list of ids has all of its resources
  await loans.list({ embed: { readers: { filter: { name: "Ann" } } } }).all();
  // @ts-expect-error: a single resource has no limit
  await loans.list({ embed: { shelf: { limit: 1 } } }).all();
  // @ts-expect-error: no such attribute of a loan
  await members.list({ embed: { borrowed: { sort: "dayz" } } }).all();
  // @ts-expect-error: two references lead here, so the relation has no derived name
  await members.list({ embed: { loans: true } }).all();
  loans.list({ filter: { "borrower.name": { startsWith: "A" }, readers: { exists: true } } });
  shelves.list({ filter: { or: [{ "loans.days": { gt: 3 } }, { "owner.name": "Ann" }] } });
  // @ts-expect-error: no such attribute of a member
  loans.list({ filter: { "borrower.nme": "Ann" } });
  loans.list({ filter: { "shelf.owner.name": "Ann", "shelf.owner": { exists: true } } });
  loans.list({ sort: ["borrower.name", "-shelf.name", "days"] });
  // @ts-expect-error: the attribute is a text
  loans.list({ filter: { "shelf.owner.name": { gt: 3 } } });
  // @ts-expect-error: no such attribute of a member
  loans.list({ sort: "borrower.nme" });
  // @ts-expect-error: a loan can have several readers
  loans.list({ sort: "readers.name" });
  const [lender] = await loans
    .figures({ aggregate: ["count"], group: ["borrower.name"], sort: ["-borrower.name"] })
    .all();
  const lenderName: string | undefined = lender?.["borrower.name"];
  // @ts-expect-error: a loan can have several readers
  loans.figures({ distinct: ["readers.name"] });
  loans.figures({ distinct: ["days"], filter: { "borrower.name": "Ann" } });
  // @ts-expect-error: no such attribute of a member
  loans.figures({ aggregate: ["count"], filter: { "borrower.nam": "Ann" } });
  // @ts-expect-error: the attribute is a number
  shelves.list({ filter: { "loans.days": { gt: "3" } } });
  const below = members.nested("1", "borrowed");
  const [first] = await below.list({ filter: { days: 3 }, sort: "-days", embed: { shelf: true } }).all();
  const shelf: string | undefined = first?.shelf?.name;
  await below.create({ shelfId: 1 });
  await shelves.nested(1, "loans").create({ days: 1 });
  // @ts-expect-error: no such attribute
  await below.create({ shelfId: 1, dayz: 1 });
  // @ts-expect-error: a reference has no nested path
  loans.nested("1", "shelf");
  void [owner, readers, more, unseen, days, lent, shelf, lenderName, daysOf, ownerId, partlyName];

  // Reads
  const article = await articles.get("1");
  const title: string = article.title;
  // @ts-expect-error: it can be absent
  const views: number = article.views;
  // @ts-expect-error: it is write-only
  (await members.get("1")).password;
  // @ts-expect-error: only the title was requested
  (await articles.get("1", { fields: ["title"] })).views;
  (await articles.get("1", { fields: ["-title"] })).views;
  // @ts-expect-error: the title was left out
  (await articles.get("1", { fields: ["-title"] })).title;
  // @ts-expect-error: no such attribute to leave out
  await articles.get("1", { fields: ["-titel"] });
  (await notes.get("1", { fields: ["-whatever"] })).other;
  // @ts-expect-error: the id is a number here
  await books.get("1");
  // @ts-expect-error: the id is never changed
  article.id = title;

  // Changes
  await articles.patch("1", { views: null, author: { name: "Bob" } });
  await articles.patch(article, [{ op: "remove", path: "/views" }]);
  // @ts-expect-error: a required attribute stays
  await articles.patch("1", { title: null });
  // @ts-expect-error: no such attribute
  await articles.patch("1", { titel: "Hello" });
  await articles.replace({ ...article, views: 2 });
  // @ts-expect-error: a replacement has the id
  await articles.replace({ title: "Hello" });
  await articles.update("1", {
    views: { $increment: 1 },
    tags: { $addUnique: ["a"] },
    title: { $set: "New" },
  });
  await articles.update(article, { "author.name": { $set: "Bob" }, status: { $unset: true } });
  await notes.update("1", { whatever: { $append: [1] }, "some.thing": { $max: 2 } });
  await members.update("1", { password: { $set: "secret" } });
  // @ts-expect-error: no such attribute
  await articles.update("1", { view: { $increment: 1 } });
  // @ts-expect-error: no such nested attribute
  await articles.update("1", { "author.nam": { $set: "Bob" } });
  // @ts-expect-error: no such operator
  await articles.update("1", { views: { $inc: 1 } });
  // @ts-expect-error: no such operator, also if any attribute can exist
  await notes.update("1", { whatever: { $inc: 1 } });
  // @ts-expect-error: a plain value is not an operator
  await articles.update("1", { views: 1 });
  // @ts-expect-error: two operators on one attribute
  await articles.update("1", { views: { $min: 1, $max: 5 } });
  // @ts-expect-error: a text has no sum
  await articles.update("1", { title: { $increment: 1 } });
  // @ts-expect-error: the items are texts
  await articles.update("1", { tags: { $append: [1] } });
  // @ts-expect-error: one of two words
  await articles.update("1", { status: { $set: "open" } });
  // @ts-expect-error: a required attribute stays
  await articles.update("1", { title: { $unset: true } });
  // @ts-expect-error: it is write-only, so nothing can be added to it
  await members.update("1", { password: { $append: ["x"] } });
  // @ts-expect-error: the service sets it
  await members.update("1", { joinedOn: { $set: "2026-01-31" } });
  await articles.update("1", (current) => ({ ...current, views: (current.views ?? 0) + 1 }));
  // @ts-expect-error: no such attribute to read
  await articles.update("1", (current) => ({ ...current, views: current.view }));

  await articles.import(
    [
      { id: "a", title: "A" },
      { title: "B", status: "published" },
    ],
    { dryRun: true },
  );
  await books.import([{ id: 1, title: "Emma", createdAt: "1815-12-23T00:00:00.000Z" }]);
  const { imported, errors } = await articles.import("id;title\n", { type: "text/csv", delimiter: ";" });
  holds<Same<typeof imported, number>>();
  holds<Same<(typeof errors)[number]["line"], number>>();
  // @ts-expect-error: the title is missing
  await articles.import([{ id: "a" }]);
  // @ts-expect-error: text needs a type
  await articles.import("{}");
  const bulk = await books.bulk({ filter: { year: { lt: 1900 } }, patch: { kind: "novel" }, max: 10 });
  const ids: readonly number[] = bulk.ids;
  await articles.bulk({ all: true, update: { views: { $increment: 1 } }, max: 10, dryRun: true });
  await articles.bulk({ filter: { "author.name": "Ann" }, delete: true, max: 10 });
  // @ts-expect-error: the maximum of matches is required
  await articles.bulk({ all: true, delete: true });
  // @ts-expect-error: so it is for a rewind
  await client.$rewind({ to: "2026-01-31" });
  // @ts-expect-error: the selection is missing
  await articles.bulk({ delete: true, max: 10 });
  // @ts-expect-error: the change is missing
  await articles.bulk({ all: true, max: 10 });
  // @ts-expect-error: two changes at once
  await articles.bulk({ all: true, patch: { views: 1 }, delete: true, max: 10 });
  // @ts-expect-error: no such attribute in the filter
  await articles.bulk({ filter: { titel: "Hello" }, delete: true, max: 10 });
  // @ts-expect-error: no such attribute in the patch
  await articles.bulk({ all: true, patch: { titel: "Hello" }, max: 10 });
  // @ts-expect-error: no such operator
  await articles.bulk({ all: true, update: { views: { $inc: 1 } }, max: 10 });

  // Deleted resources
  const lost = articles.deleted({
    filter: { "_deleted.at": { gte: "2026-01-31" }, status: "draft" },
    sort: "-views",
  });
  for await (const { id, _deleted } of lost) await articles.restore(id, _deleted.version);
  for await (const each of books.deleted({ fields: ["title", "_deleted"] })) {
    const by: string | undefined = each._deleted.by;
    // @ts-expect-error: only the title and the delete were requested
    console.log(by, each.year);
  }
  // @ts-expect-error: no such attribute
  articles.deleted({ filter: { titel: "Hello" } });
  // @ts-expect-error: a list of deleted resources has no search
  articles.deleted({ q: "words" });
  const restored = await books.restoreDeleted({ filter: { year: { lt: 1900 } }, max: 10, dryRun: true });
  const restoredIds: readonly number[] = restored.ids;
  await books.restoreDeleted({ all: true, max: 10 });
  // @ts-expect-error: the maximum of matches is required
  await books.restoreDeleted({ all: true });
  // @ts-expect-error: the selection is missing
  await books.restoreDeleted({ max: 10 });

  // Lists
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
  articles.list({ filter: { title: { containsi: "é", ini: ["a"] }, tags: { containsi: "a" } } });
  // @ts-expect-error: a number has no case
  articles.list({ filter: { views: { eqi: "1" } } });
  const orders = createClient<{ collections: { orders: typeof orderDeclaration } }>({ baseUrl: "/" }).orders;
  orders.list({
    filter: { "lines.sku": "A", lines: { any: { sku: "A", qty: { gte: 2 }, not: { qty: 5 } } } },
  });
  // @ts-expect-error: the lines have no such attribute
  orders.list({ filter: { lines: { any: { name: "A" } } } });
  articles.list({ sort: ["-title:natural", "author.name:natural"] });
  // @ts-expect-error: no such order
  articles.list({ sort: "title:random" });
  // @ts-expect-error: a name does not lead into an array in a sort
  orders.list({ sort: "lines.sku" });
  // @ts-expect-error: a number contains no text
  articles.list({ filter: { views: { contains: "1" } } });
  // @ts-expect-error: the attribute is a number
  articles.list({ filter: { views: { gte: "1" } } });
  // @ts-expect-error: an array equals nothing
  articles.list({ filter: { tags: "a" } });
  // @ts-expect-error: no such attribute inside "or"
  articles.list({ filter: { or: [{ titel: "Hello" }] } });
  // @ts-expect-error: no such attribute
  articles.list({ sort: "-view" });
  // @ts-expect-error: no such attribute
  articles.list({ fields: ["view"] });
  // @ts-expect-error: no such parameter
  articles.list({ limits: 5 });
  for await (const { id, title } of articles.list({ fields: ["title"] })) console.log(id, title);

  // Figures
  const figures = await articles
    .figures({
      aggregate: ["count", "sum(views)", "min(status)", "max(author.name)"],
      group: ["status", "title", "author.name", "title:month"],
      filter: { views: { gte: 1 } },
      sort: ["-sum(views)", "status"],
    })
    .all();
  for (const group of figures) {
    const counted: number = group.count;
    const sum: number | null = group["sum(views)"];
    const status: "draft" | "published" | undefined = group.status;
    const least: "draft" | "published" | null = group["min(status)"];
    const groupTitle: string = group.title;
    const author: string | undefined = group["author.name"];
    const month: string | null = group["title:month"];
    // @ts-expect-error: a group can lack the attribute
    const name: string = group["author.name"];
    // @ts-expect-error: this figure was not requested
    console.log(counted, sum, status, least, groupTitle, author, month, name, group["avg(views)"]);
  }
  for await (const { kind, count } of books.figures({ distinct: ["kind"], sort: "-count" })) {
    const known: "novel" | "poems" | undefined = kind;
    console.log(known, count + 1);
  }
  for await (const group of notes.figures({ aggregate: ["sum(a)", "max(b)"], group: ["c", "d:day"] }))
    console.log(group["sum(a)"], group["max(b)"], group.c, group["d:day"]);
  // @ts-expect-error: no such attribute
  articles.figures({ aggregate: ["sum(view)"] });
  // @ts-expect-error: the attribute is not a number
  articles.figures({ aggregate: ["sum(title)"] });
  // @ts-expect-error: no such figure
  articles.figures({ aggregate: ["median(views)"] });
  // @ts-expect-error: no such attribute
  articles.figures({ aggregate: ["count"], group: ["titel"] });
  // @ts-expect-error: no such nested attribute
  articles.figures({ distinct: ["author.nam"] });
  // @ts-expect-error: the attribute is not a text
  articles.figures({ aggregate: ["count"], group: ["views:month"] });
  // @ts-expect-error: no such unit
  articles.figures({ aggregate: ["count"], group: ["title:decade"] });
  // @ts-expect-error: this is neither a group nor a figure of the request
  articles.figures({ aggregate: ["count"], group: ["title"], sort: "-views" });
  // @ts-expect-error: no such attribute
  articles.figures({ aggregate: ["count"], filter: { titel: "x" } });
  // @ts-expect-error: groups need figures
  articles.figures({ group: ["title"] });
  // @ts-expect-error: it is write-only
  members.figures({ distinct: ["password"] });

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
    // @ts-expect-error: only the year was requested
    console.log(id, event.data.year, event.data.title);
  }
  for await (const event of client.$events({ collections: ["articles", "books"] })) {
    if (event.type === "books.created") console.log(event.data.year);
    if (event.type === "articles.deleted") console.log(event.data.id);
    // @ts-expect-error: this collection was not requested
    if (event.type === "notes.created") console.log(event);
  }
  // @ts-expect-error: the collection does not exist
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
  articles.live({ fields: ["-title"], sort: ["views"] });
  // @ts-expect-error: the sort attribute is not read
  articles.live({ fields: ["title"], sort: "views" });
  // @ts-expect-error: the sort attribute is left out
  articles.live({ fields: ["-views"], sort: "views" });
  // @ts-expect-error: a live list has no search
  articles.live({ q: "words" });
  // @ts-expect-error: feeds have no filters by id
  articles.live({ filter: { id: "1" } });
  for await (const [note] of notes.live({ filter: { whatever: 1 } })) console.log(note?.whatever);

  // Batches
  // Webhooks
  const webhook = await client.$webhooks.create({ url: "https://example.org/", collections: ["articles"] });
  holds<Same<typeof webhook.secret, string | undefined>>();
  holds<Same<typeof webhook.types, ("created" | "updated" | "deleted")[]>>();
  await client.$webhooks.patch(webhook, { headers: { "X-Key": "1" }, enabled: false });
  // @ts-expect-error: the type of change does not exist
  await client.$webhooks.create({ url: "https://example.org/", collections: ["*"], types: ["changed"] });
  // @ts-expect-error: webhooks have no events
  client.$webhooks.events();

  const [book, , gone] = await client.$batch(({ articles, books }) => {
    const book = books.create({ title: "Emma" });
    return [book, books.patch(book, { year: 1815 }), articles.delete(article)];
  });
  const year: number | undefined = book.year;
  const nothing: undefined = gone;
  await client.$batch(({ books }) => [books.update(1, { year: { $increment: 1 } })]);
  // @ts-expect-error: no such attribute
  await client.$batch(({ books }) => [books.update(1, { yaer: { $increment: 1 } })]);
  // @ts-expect-error: no such attribute
  await client.$batch(({ books }) => [books.create({ title: "Emma", yaer: 1815 })]);

  // People
  const { user, session } = await client.$auth.signIn({ email: "ada@example.org", password: "secret" });
  holds<Same<typeof user.roles, readonly string[]>>();
  // @ts-expect-error: the client keeps the token
  console.log(session.token);
  const ticket = await client.$auth.resetPassword("ada@example.org");
  // @ts-expect-error: a reset needs a password
  await ticket.set("K7QF-29MX");
  client.$auth.onChange((now) => console.log(now?.email));

  // Configurations
  // @ts-expect-error: no such option
  defineConfig({ collectoins: {} });
  // @ts-expect-error: no such member of a declaration
  defineConfig({ collections: { articles: { shema: {} } } });
  // @ts-expect-error: ids are made in one of two ways
  defineConfig({ collections: { articles: { id: "number" } } });

  console.log(views, year, nothing, ids, restoredIds);
}

const openSchema = {
  collections: {
    posts: {
      schema: {
        type: "object",
        properties: { views: { type: "integer" }, userId: { type: "string" } },
        additionalProperties: true,
      },
      references: { userId: { collection: "users", as: "user", inverse: "posts" } },
    },
    users: {
      schema: {
        type: "object",
        properties: { name: { type: "string" } },
        additionalProperties: true,
      },
    },
  },
} as const;

/** The attributes that an open schema declares keep their types, beside all others. */
export async function readOpen(): Promise<unknown> {
  const { posts, users } = createClient<typeof openSchema>({ baseUrl: "" });
  const views: number | undefined = (await posts.get("1")).views;
  const [post] = await posts.list({ embed: { user: true }, fields: ["userId"] }).all();
  const name: string | undefined = post?.user?.name;
  const [below] = await users.nested("1", "posts").list().all();
  const again: number | undefined = below?.views;
  // @ts-expect-error: views are numbers
  const wrong: string | undefined = (await posts.get("1")).views;
  return [views, name, again, wrong, (await posts.get("1")).other];
}

// Every operator of the service has a type.
holds<Same<OperatorName, keyof Operators<string> | keyof Operators<readonly { a: string }[]>>>();
