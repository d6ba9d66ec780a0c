/**
 * Reads the query string of a list. Refuses everything that it does not understand. If it ignored a filter, the client
 * would get resources that it did not want.
 */
import type { Collection } from "../collection/collection.ts";
import { Problem } from "../errors.ts";
import { wholeBody } from "../json/explain.ts";
import { parseJson } from "../json/parse.ts";
import { defaultJsonLimits } from "../json/values.ts";
import { allOf } from "./filter.ts";
import { readFilter, splitSearch } from "./filter-json.ts";
import { readFilterParameter } from "./filter-parameters.ts";
import { type ListRequest, toRequest } from "./list-request.ts";
import { readPaging } from "./paging.ts";
import { readParameters } from "./parameters.ts";
import { emptyFilterSize, type Reading, readFieldNames, readTime, readWord } from "./reading.ts";
import { readSortParameters } from "./sort-keys.ts";
import { inQuery, Violations } from "./violations.ts";

/** Recent requests of each declared collection, by query string, because clients often request the same lists. */
const recentRequests = new WeakMap<Collection, Map<string, ListRequest>>();

const cacheLimits = { queries: 500, length: 500 } as const;

/** Reads a query string without its question mark. Throws INVALID_PARAMETER and INVALID_CURSOR. */
export function parseList(query: string, collection: Collection, maxPageSize: number): ListRequest {
  if (collection.schema === undefined || query.length > cacheLimits.length)
    return read(query, collection, maxPageSize);
  const name = `${maxPageSize} ${query}`;
  const requests = recentRequests.get(collection) ?? new Map<string, ListRequest>();
  const known = requests.get(name);
  if (known !== undefined) return known;
  const request = read(query, collection, maxPageSize);
  if (requests.size >= cacheLimits.queries) requests.clear();
  recentRequests.set(collection, requests.set(name, request));
  return request;
}

function read(query: string, collection: Collection, maxPageSize: number): ListRequest {
  const violations = new Violations();
  const parameters = readParameters(query, violations);
  const { known, filters } = parameters;
  const reading = { collection, violations, used: emptyFilterSize(), parameters };
  const byAttribute = [...filters].flatMap(
    ([name, texts]) => readFilterParameter(name, texts, reading) ?? [],
  );
  const sent = { filter: readJson(known.get("filter"), violations), q: known.get("q") };
  const { filter, q } = splitSearch(sent, inQuery("filter"), reading);
  const ofFilter = filter === undefined ? [] : [readFilter(filter, inQuery("filter"), reading)];
  const draft = {
    filter: allOf([...ofFilter, ...byAttribute]),
    sort: readSortParameters(known, reading),
    q,
    at: readTime(known.get("at"), inQuery("at"), violations),
    fields: readFieldsText(known.get("fields"), reading),
    envelope:
      readWord(known.get("envelope"), inQuery("envelope"), { words: ["true", "false"], violations }) ===
      "true",
    count: readWord(known.get("count"), inQuery("count"), { words: ["exact", "none"], violations }),
    page: readPaging(known, violations),
    locationOf: inQuery,
  };
  return toRequest(draft, reading, maxPageSize);
}

/** Reads `fields` in the query string of a single resource, without `version` and `at`. Throws INVALID_PARAMETER. */
export function parseFields(query: string, collection: Collection): readonly string[] | undefined {
  if (query === "") return undefined;
  const violations = new Violations();
  const { known, filters } = readParameters(query, violations);
  for (const name of [...known.keys(), ...filters.keys()]) {
    if (name !== "fields")
      violations.add(
        inQuery(name),
        "unknownParameter",
        'is not understood here. The parameters of a single resource are "fields", "version" and "at"',
      );
  }
  const fields = readFieldsText(known.get("fields"), {
    collection,
    violations,
    used: emptyFilterSize(),
  });
  violations.throwIfAny();
  return fields;
}

function readJson(text: string | undefined, violations: Violations): unknown {
  if (text === undefined) return undefined;
  try {
    return parseJson(Buffer.from(text), defaultJsonLimits);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    violations.add(
      inQuery("filter"),
      "filter",
      `must be a JSON object such as {"status":"open"}. ${error.message.replace(wholeBody, "It")}`,
    );
    return undefined;
  }
}

function readFieldsText(text: string | undefined, reading: Reading): readonly string[] | undefined {
  if (text === undefined) return undefined;
  return readFieldNames(
    text.split(",").map((name) => name.trim()),
    inQuery("fields"),
    reading,
  );
}
