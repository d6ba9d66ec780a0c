/**
 * Reads the query string of a list. Refuses everything that it does not understand. If it ignored a filter, the client
 * would get resources that it did not want.
 */
import type { Collection } from "../collection/collection.ts";
import { aliasEmbedLimit, defaultEmbedLimit, readEmbed } from "./embed-request.ts";
import { type ChosenFields, readFieldNames } from "./fields-request.ts";
import { isRelative } from "./filter.ts";
import { readFilterParameter, readFilterText } from "./filter-request.ts";
import { embedParameters, type Parameters, readPaging, readParameters } from "./list-parameters.ts";
import { type ListRequest, readSelection, type Selection, toRequest } from "./list-request.ts";
import { emptyFilterSize, type ListScope, type Reading, readTime, readWord, readZone } from "./reading.ts";
import { relationsAdviser, type ViewOf } from "./related-resources.ts";
import { readSortParameters } from "./sort-keys.ts";
import { readTableForm, type TableForm } from "./table-form.ts";
import { inQuery, Violations } from "./violations.ts";

/** Recent requests of each declared collection, by query string, because clients often request the same lists. */
const recentRequests = new WeakMap<Collection, Map<string, ListRequest>>();

const cacheLimits = { queries: 500, length: 500 } as const;

/** Reads a query string without its question mark. Throws INVALID_PARAMETER and INVALID_CURSOR. */
export function parseList(
  query: string,
  collection: Collection,
  maxPageSize: number,
  scope: ListScope = {},
): ListRequest {
  if (collection.schema === undefined || query.length > cacheLimits.length || scope.within !== undefined)
    return read(query, collection, { maxPageSize, scope });
  const name = `${maxPageSize} ${query}`;
  const requests = recentRequests.get(collection) ?? new Map<string, ListRequest>();
  const known = requests.get(name);
  if (known !== undefined) return known;
  // What the caller sees of other collections is not part of the key.
  let isShared = true;
  const viewOf = (other: string) => {
    isShared = false;
    return scope.viewOf?.(other);
  };
  const request = read(query, collection, {
    maxPageSize,
    scope: scope.viewOf === undefined ? scope : { ...scope, viewOf },
  });
  if (!isShared || isRelative(request.filter)) return request;
  if (requests.size >= cacheLimits.queries) requests.clear();
  recentRequests.set(collection, requests.set(name, request));
  return request;
}

function read(
  query: string,
  collection: Collection,
  { maxPageSize, scope }: { maxPageSize: number; scope: ListScope },
): ListRequest {
  const { known, reading, selection } = readQueryString(query, collection, scope);
  const { violations } = reading;
  const draft = {
    ...selection,
    sort: readSortParameters(known, reading),
    at: readTime(known.get("at"), inQuery("at"), violations),
    envelope:
      readWord(known.get("envelope"), inQuery("envelope"), { words: ["true", "false"], violations }) ===
      "true",
    ...readFieldsAndEmbeds(known, reading),
    count: readWord(known.get("count"), inQuery("count"), { words: ["exact", "none"], violations }),
    table: tableFormIn(known, violations),
    page: readPaging(known, maxPageSize, violations),
    locationOf: inQuery,
  };
  return toRequest(draft, reading, maxPageSize);
}

/** Reads the parameters of a list, and which resources they select. Adds violations to those of `reading`. */
export function readQueryString(
  query: string,
  collection: Collection,
  scope: ListScope,
): { known: Parameters["known"]; reading: Reading; selection: Selection } {
  const violations = new Violations();
  const adviseRelations = adviserFor(collection, scope.viewOf, violations);
  const parameters = readParameters(query, violations, { collection, adviseRelations });
  const { known, filters } = parameters;
  const zone = readZone(known.get("timezone"), inQuery("timezone"), violations);
  const reading = { ...scope, collection, violations, used: emptyFilterSize(), zone, parameters };
  const byAttribute = [...filters].map(([name, texts]) => readFilterParameter(name, texts, reading));
  const sent = {
    filter: readFilterText(known.get("filter"), inQuery("filter"), violations),
    q: known.get("q"),
  };
  const selection = readSelection(sent, byAttribute, inQuery("filter"), reading);
  return { known, reading, selection };
}

function adviserFor(collection: Collection, viewOf: ViewOf | undefined, violations: Violations) {
  return viewOf && relationsAdviser(collection, { viewOf, violations });
}

/** Reads the parameters of CSV. Adds violations. */
export function tableFormIn(known: Parameters["known"], violations: Violations): TableForm {
  const sent = { bom: known.get("bom"), delimiter: known.get("delimiter") };
  return readTableForm(sent, ["true", "false"], inQuery, violations);
}

/** Reads the query string of a single resource, without `version` and `at`. Throws INVALID_PARAMETER. */
export function parseResourceRequest(
  query: string,
  collection: Collection,
  { viewOf }: Pick<ListScope, "viewOf"> = {},
): ChosenFields {
  if (query === "") return { fields: undefined, embeds: [] };
  const violations = new Violations();
  const adviseRelations = adviserFor(collection, viewOf, violations);
  const { known, filters } = readParameters(query, violations, { collection, adviseRelations });
  for (const name of [...known.keys(), ...filters.keys()]) {
    if (!ofResources.includes(name))
      violations.add(
        inQuery(name),
        "unknownParameter",
        'is not understood here. The parameters of a single resource are "fields", "embed", "version" and "at"',
      );
  }
  const reading: Reading = { collection, violations, used: emptyFilterSize(), ...(viewOf && { viewOf }) };
  const chosen = readFieldsAndEmbeds(known, reading);
  violations.throwIfAny();
  return chosen;
}

/** The parameters of a single resource that choose what it contains. */
const ofResources: readonly string[] = ["fields", ...embedParameters];

function readFieldsAndEmbeds(known: Parameters["known"], reading: Reading): ChosenFields {
  const sent = embedParameters.flatMap((name) => {
    const text = known.get(name);
    if (text === undefined) return [];
    return { text, location: inQuery(name), limit: name === "embed" ? defaultEmbedLimit : aliasEmbedLimit };
  });
  const embeds = readEmbed(sent, reading);
  const names = known.get("fields")?.split(",");
  return readFieldNames(
    names?.map((name) => name.trim()),
    inQuery("fields"),
    reading,
    embeds,
  );
}
