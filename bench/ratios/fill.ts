/** Makes stores to measure on. */
import { type Collection, openCollection } from "../../src/collection/collection.ts";
import { createUuidSource } from "../../src/collection/uuids.ts";
import { isPostgresUrl } from "../../src/store/address.ts";
import { openStore } from "../../src/store/open.ts";

/** Fills the collection of a new store, which is a file or a database, with a declaration or as the open collection `articles`, and returns the ids. */
export async function fillStore(
  place: string,
  resources: number,
  attributesOf: (n: number) => Record<string, unknown>,
  { collection = openCollection("articles") }: { collection?: Collection } = {},
): Promise<string[]> {
  const { name, idKind, schema, indexes, search } = collection;
  const store = await openStore(
    isPostgresUrl(place) ? { kind: "postgres", url: place } : { kind: "sqlite", path: place },
  );
  const record = { name, idKind, schema, indexes, search };
  await store.migrate([{ ...record, indexes: [] }]);
  const newUuid = createUuidSource();
  const ids = Array.from({ length: resources }, () => newUuid());
  const load = await store.load(name);
  let added: Promise<unknown> | undefined;
  for (let n = 0; n < resources; n += 1000) {
    const arrivals = ids
      .slice(n, n + 1000)
      .map((id, index) => ({ id, text: JSON.stringify({ id, ...attributesOf(n + index) }) }));
    await added; // the next thousand are made while the store takes these
    added = load.add(arrivals);
  }
  await added;
  await load.finish();
  await store.migrate([record]); // an index is made many times faster than it is kept up
  await store.close();
  return ids;
}
