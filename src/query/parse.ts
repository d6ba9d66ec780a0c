/**
 * The query string of a list becomes a request. What is not understood is refused, never ignored: nobody who asked
 * for some resources is answered with all of them.
 */

import type { Collection } from "../collection/collection.ts";
import { shortJson } from "../collection/messages.ts";
import { Problem } from "../errors.ts";
import { wholeBody } from "../json/explain.ts";
import { parseJson } from "../json/parse.ts";
import { defaultJsonLimits } from "../json/values.ts";
import { nothingUsed, type Reading } from "./conditions.ts";
import { Faults, inQuery } from "./faults.ts";
import { readFieldNames } from "./fields.ts";
import { allOf, readFilter } from "./filter-json.ts";
import { readFilterParameter } from "./filter-parameters.ts";
import { splitSearch } from "./filter-search.ts";
import type { ListRequest } from "./list.ts";
import { readPaging } from "./paging.ts";
import { type ListParameter, readParameters } from "./parameters.ts";
import { toRequest } from "./request.ts";
import { readSortParameters } from "./sort-keys.ts";

/** Query strings that were read lately, by declared collection: clients ask for the same lists again and again. */
const readLately = new WeakMap<Collection, Map<string, ListRequest>>();

const kept = { queries: 500, length: 500 } as const;

/** Reads a list's query string, without its question mark. Throws INVALID_PARAMETER and INVALID_CURSOR. */
export function parseList(query: string, collection: Collection, maxPageSize: number): ListRequest {
  if (collection.schema === undefined || query.length > kept.length)
    return read(query, collection, maxPageSize);
  const name = `${maxPageSize} ${query}`;
  const requests = readLately.get(collection) ?? new Map<string, ListRequest>();
  const known = requests.get(name);
  if (known !== undefined) return known;
  const request = read(query, collection, maxPageSize);
  if (requests.size >= kept.queries) requests.clear();
  readLately.set(collection, requests.set(name, request));
  return request;
}

function read(query: string, collection: Collection, maxPageSize: number): ListRequest {
  const faults = new Faults();
  const parameters = readParameters(query, faults);
  const { known, filters } = parameters;
  const reading = { collection, faults, used: nothingUsed(), parameters };
  const byAttribute = [...filters].flatMap(
    ([name, texts]) => readFilterParameter(name, texts, reading) ?? [],
  );
  const asked = { filter: readJson(known.get("filter"), faults), q: known.get("q") };
  const stated = splitSearch(asked, inQuery("filter"), reading);
  const ofFilter = stated.filter === undefined ? [] : [readFilter(stated.filter, inQuery("filter"), reading)];
  const draft = {
    filter: allOf([...ofFilter, ...byAttribute]),
    sort: readSortParameters(known, reading),
    q: stated.q,
    fields: readFieldsText(known.get("fields"), reading),
    envelope: readWord("envelope", known, { words: ["true", "false"], faults }) === "true",
    count: readWord("count", known, { words: ["exact", "none"], faults }),
    page: readPaging(known, faults),
    placeOf: inQuery,
  };
  return toRequest(draft, reading, maxPageSize);
}

/** Reads what is left of the query string of one resource without the moment: `fields` alone. Throws INVALID_PARAMETER. */
export function parseFields(query: string, collection: Collection): readonly string[] | undefined {
  if (query === "") return undefined;
  const faults = new Faults();
  const { known, filters } = readParameters(query, faults);
  for (const name of [...known.keys(), ...filters.keys()]) {
    if (name !== "fields")
      faults.add(
        inQuery(name),
        "unknownParameter",
        'is not understood here. The parameters of a single resource are "fields", "version" and "at"',
      );
  }
  const fields = readFieldsText(known.get("fields"), {
    collection,
    faults,
    used: nothingUsed(),
  });
  faults.throwIfAny();
  return fields;
}

function readJson(text: string | undefined, faults: Faults): unknown {
  if (text === undefined) return undefined;
  try {
    return parseJson(Buffer.from(text), defaultJsonLimits);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    faults.add(
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

function readWord<Word extends string>(
  name: ListParameter,
  known: ReadonlyMap<ListParameter, string>,
  { words, faults }: { words: readonly Word[]; faults: Faults },
): Word | undefined {
  const text = known.get(name);
  const word = words.find((each) => each === text);
  if (text !== undefined && word === undefined)
    faults.add(inQuery(name), "value", `must be ${words.join(" or ")}, not ${shortJson(text)}`);
  return word;
}
