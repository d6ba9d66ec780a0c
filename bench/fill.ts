/** Makes stores to measure on. */
import { createUuidSource } from "../src/collection/ids.ts";
import { openStore } from "../src/store/open.ts";

/** Fills the collection `articles` of a new store and gives the ids. */
export async function fillStore(
  path: string,
  resources: number,
  attributesOf: (n: number) => Record<string, unknown>,
): Promise<string[]> {
  const store = await openStore({ kind: "sqlite", path });
  await store.migrate([{ name: "articles", idKind: "uuid", schema: undefined, indexes: [], search: [] }]);
  const newUuid = createUuidSource();
  const ids = Array.from({ length: resources }, () => newUuid());
  const articles = await store.load("articles");
  for (let n = 0; n < resources; n += 1000) {
    await articles.add(
      ids
        .slice(n, n + 1000)
        .map((id, index) => ({ id, text: JSON.stringify({ id, ...attributesOf(n + index) }) })),
    );
  }
  await articles.finish();
  await store.close();
  return ids;
}
