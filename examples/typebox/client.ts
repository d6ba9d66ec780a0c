/**
 * The typed client, with the types of the configuration beside it.
 * Run: npx holdfast serve --config examples/typebox/holdfast.config.ts, then npx node examples/typebox/client.ts
 */
import { ConflictError, createClient } from "holdfast-client";
import type config from "./holdfast.config.ts";

const { authors, articles, $batch } = createClient<typeof config>({
  baseUrl: process.argv[2] ?? "http://127.0.0.1:3000/api/v1",
});

const { id: authorId } = await authors.create({ name: "Ursula K. Le Guin", born: "1929-10-21" });
const lavinia = await articles.create({ title: "Lavinia", authorId, tags: ["myth"] });
console.log(lavinia.status); // draft

// `lavinia` carries its ETag. The second replace fails, because the first one has changed the resource.
await articles.replace({ ...lavinia, views: 1 });
await articles
  .replace({ ...lavinia, views: 2 })
  .catch((error) => console.log(error instanceof ConflictError)); // true

// Reads and changes the resource, and tries again if another client changed it first.
await articles.update(lavinia.id, ({ views = 0, ...others }) => ({ ...others, views: views + 1 }));

// All or nothing. The second operation uses the id that the first one will get.
await $batch(({ authors, articles }) => {
  const lem = authors.create({ name: "Stanisław Lem" });
  return [lem, articles.create({ title: "Solaris", authorId: lem.id, status: "published" })];
});

for await (const { title } of articles.list({ filter: { status: ["draft", "published"] }, sort: "-title" }))
  console.log(title); // Solaris, Lavinia
