/** The resources that a list matches. */
import { collectionClient, type Resource } from "../service/session.ts";
import { mostBulk } from "./bulk.ts";

/** The ids of the first resources of a list, as many as one change can have. */
export async function readMatching(collection: string, query: string): Promise<ReadonlySet<string>> {
  const options = { query, limit: mostBulk, fields: ["id"] };
  const ids = new Set<string>();
  const pages = collectionClient(collection)
    .list(options as object)
    .pages();
  for await (const { items } of pages) {
    for (const { id } of items as unknown as Resource[]) if (ids.size < mostBulk) ids.add(String(id));
    if (ids.size >= mostBulk) break;
  }
  return ids;
}
