/** The titles of resources that others refer to, and the search for such a resource. All titles that a page shows are read with one list request for each collection. */
import { useQuery } from "@tanstack/react-query";
import type { CollectionDetails } from "holdfast-client";
import { knownCollection, useCollection } from "./collections.ts";
import { onChanges } from "./live.ts";
import { firstOnly, queries } from "./queries.ts";
import { pickerQuery, propertiesOf, titleNames, titleOf } from "./schema.ts";
import { collectionClient, type Resource } from "./session.ts";

/** The attributes of a collection that can be a title. In an open schema, all of them can exist. */
export function titleFields(info: CollectionDetails | undefined): string[] {
  const properties = Object.keys(propertiesOf(info));
  return properties.length === 0 ? titleNames : titleNames.filter((each) => properties.includes(each));
}

/** How long a request for titles waits for others, in milliseconds. */
const gatherMs = 30;
const most = 100;

/** The requests that wait for others, by collection. */
const waiting = new Map<string, { ids: Set<string>; titles: Promise<ReadonlyMap<string, string>> }>();

function ask(collection: string, id: string): Promise<ReadonlyMap<string, string>> {
  let request = waiting.get(collection);
  if (request === undefined) {
    const ids = new Set<string>();
    const gathered = new Promise((resolve) => setTimeout(resolve, gatherMs));
    request = {
      ids,
      titles: gathered.then(() => {
        waiting.delete(collection);
        return readTitles(collection, [...ids]);
      }),
    };
    waiting.set(collection, request);
  }
  request.ids.add(id);
  return request.titles;
}

async function readTitles(collection: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const titles = new Map<string, string>();
  const fields = titleFields(knownCollection(collection));
  try {
    for (let at = 0; at < ids.length && fields.length > 0; at += most) {
      const filter = { id: ids.slice(at, at + most) };
      const list = collectionClient(collection).list({ filter, fields } as object);
      for (const item of (await list.page()).items as unknown as Resource[])
        titles.set(String(item.id), titleOf(item) ?? "");
    }
  } catch {} // the ids are shown instead
  return titles;
}

onChanges((changes) => {
  for (const { collection, id } of changes)
    void queries.invalidateQueries({
      queryKey: ["title", ...(collection === undefined || id === undefined ? [] : [collection, id])],
    });
});

/** The title of a resource; `undefined` until it is known, and if it has none for the caller. */
export function useTitle(collection: string, id: string): string | undefined {
  const { data } = useQuery({
    queryKey: ["title", collection, id],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => (await ask(collection, id)).get(id) ?? "",
  });
  return data === "" ? undefined : data;
}

/** How many resources a search shows. */
const mostFound = 20;

/** Resources that match words: by the search of the collection, else by a title that contains them, else by their id. */
export function useSearch(collection: string, words: string, isOn: boolean) {
  const info = useCollection(collection);
  const { data, error, isFetching } = useQuery({
    queryKey: ["search", collection, words, info?.search],
    enabled: isOn,
    staleTime: 5_000,
    queryFn: async ({ signal }) => {
      const found = pickerQuery(words, info?.search ?? [], Object.keys(propertiesOf(info)));
      const query = `${found}&${firstOnly(mostFound)}`;
      const list = collectionClient(collection).list({ query, signal });
      return (await list.page()).items as unknown as Resource[];
    },
  });
  return {
    items: data ?? [],
    error,
    isBusy: isFetching && data === undefined,
    /** The id that a text is. */
    asId: (text: string) => (info?.id === "integer" ? Number(text) : text),
  };
}
