/** Values that exist already, for fields in which the user types one. */
import { useQuery } from "@tanstack/react-query";
import { knownCollection } from "../service/collections.ts";
import { collectionClient, type Resource } from "../service/session.ts";
import { titleFields, titleOf } from "../service/titles.ts";

/** The most resources of a collection whose values are completed: without an index, the service reads all of them. */
const mostCounted = 50_000;
const most = 10;

/** The query string that finds values which begin with a text. */
export function completionQuery(name: string, text: string): string {
  const parameters = new URLSearchParams({ distinct: name, sort: "-count", limit: String(most) });
  if (text !== "") parameters.set(`${name}:startsWith`, text);
  return parameters.toString();
}

/** The texts among the groups of `distinct`. */
export function textsOf(groups: readonly Readonly<Record<string, unknown>>[], name: string): string[] {
  return groups
    .map((each) => each[name])
    .filter((each) => typeof each === "string" && each.length <= 100) as string[];
}

/** Existing values of an attribute that begin with a text. */
export function useCompletion(collection: string, name: string, text: string, isOn: boolean): string[] {
  const count = knownCollection(collection)?.count;
  const { data = [] } = useQuery({
    queryKey: ["completion", collection, name, text],
    enabled: isOn && count !== undefined && count <= mostCounted,
    staleTime: 60_000,
    throwOnError: false,
    queryFn: async ({ signal }) => {
      const query = completionQuery(name, text);
      const page = await collectionClient(collection).list({ query, signal }).page();
      return textsOf(page.items as unknown as Record<string, unknown>[], name);
    },
  });
  return data;
}

/** A resource that a reference can name. */
export interface Candidate {
  value: string;
  label: string;
}

/** The resources of a collection whose title contains a text. */
export function useCandidates(collection: string | undefined, text: string): Candidate[] {
  const { data = [] } = useQuery({
    queryKey: ["candidates", collection, text],
    enabled: collection !== undefined,
    staleTime: 30_000,
    throwOnError: false,
    queryFn: async ({ signal }) => {
      const fields = titleFields(knownCollection(collection as string));
      const [name] = fields;
      const filter = text === "" || name === undefined ? {} : { [name]: { contains: text } };
      const list = collectionClient(collection as string).list({
        filter,
        fields,
        limit: 20,
        signal,
      } as object);
      const { items } = (await list.page()) as unknown as { items: Resource[] };
      return items.map((each) => ({ value: String(each.id), label: titleOf(each) ?? String(each.id) }));
    },
  });
  return data;
}
