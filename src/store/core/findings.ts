/**
 * What a walk says about damage. Each text says what is wrong and where, what this means for requests, and what to do. The messages of
 * requests are shorter (`checksums.ts`): they name the row.
 */
import { formatKey } from "../../collection/indexes.ts";
import { formatPath } from "../../collection/paths.ts";
import { isInternal } from "../port/record.ts";
import type { Slot } from "./access-path.ts";
import { nameOfResource } from "./checksums.ts";
import type { DamagedItem, Section } from "./copy/contents.ts";
import type { UniqueSlot } from "./entries.ts";
import type { WrongNumber } from "./store-numbers.ts";

const restore = "Restore a backup.";
const orErase = 'Restore a backup, or remove the resource with "npx holdfast erase".';
const orExport = "Restore a backup, or import an export of the collection into a new store.";
const orBuild =
  "Restore a backup, or let the service build it again: remove it from the declaration of the collection, start the service, and declare it again.";

/** What to do about a collection. Commands and configurations do not reach an internal one. */
function unlessInternal(collection: string, advice: string): string {
  return isInternal(collection) ? restore : advice;
}

/** A row whose checksum is wrong, or that has a number that the service never writes. */
export function damagedRow(section: Section, { name, reason }: DamagedItem, table: string): string {
  const { effect, advice } = rowEffects[section.kind];
  const wayOut = "collection" in section ? unlessInternal(section.collection, advice) : advice;
  return `${name} is damaged in the store: ${reason} (table ${table}). ${effect} ${wayOut}`;
}

const rowEffects: Readonly<Record<Section["kind"], { effect: string; advice: string }>> = {
  resources: { effect: "Requests that read it get 500 DATA_DAMAGED.", advice: orErase },
  changes: {
    effect: "Requests that read this change, such as the history and the feed, get 500 DATA_DAMAGED.",
    advice: orErase,
  },
  deleted: { effect: "A create with this id gets 500 DATA_DAMAGED.", advice: restore },
  receipts: {
    effect: "A request with this key gets 500 DATA_DAMAGED.",
    advice: "Restore a backup, or send the request with another key.",
  },
  keys: {
    effect: "Requests with it, and the list of the keys, get 500 DATA_DAMAGED.",
    advice: restore,
  },
};

/** What can be wrong with the rows that are made from a resource. */
export type FaultKind = "entry" | "unique" | "value" | "references" | "words" | "size";

/** Something that is wrong with the rows that are made from one resource. */
export interface Fault {
  id: string;
  kind: FaultKind;
  /** The attributes that it is about, as the declaration names them. */
  of: string;
}

const faultTexts: Readonly<Record<FaultKind, { what: (of: string) => string; effect: string }>> = {
  entry: {
    what: (of) => `has wrong keys in the index "${of}"`,
    effect: "Lists that use this index can lack it, or have it at a wrong place.",
  },
  unique: {
    what: (of) => `has wrong keys for the unique attribute "${of}"`,
    effect: "Another resource can get the same value, and requests that name it by this value can miss it.",
  },
  value: {
    what: (of) => `has another value in the index "${of}" than in its text`,
    effect: "Figures of the collection can be wrong.",
  },
  references: {
    what: (of) => `has wrong references in the attribute "${of}"`,
    effect: "The delete of another resource can miss it, and lists of related resources can lack it.",
  },
  words: {
    what: (of) => `has wrong search words of "${of}"`,
    effect: "Searches can lack it, or find it wrongly.",
  },
  size: { what: () => "has a wrong size", effect: "Pages of lists can be longer than they may be." },
};

/** A resource whose derived rows are wrong. `table`: the one with the rows. */
export function faultOf(collection: string, { id, kind, of }: Fault, table: string): string {
  const { what, effect } = faultTexts[kind];
  const advice = kind === "size" ? restore : unlessInternal(collection, orBuild);
  return `${nameOfResource(collection, id)} ${what(of)} in the store (table ${table}). ${effect} ${advice}`;
}

/** Rows that are made from resources. */
export type DerivedRows = "references" | "entries" | "words";

const surplusTexts: Readonly<Record<DerivedRows, { what: string; effect: string }>> = {
  entries: {
    what: "table of index entries",
    effect: "Lists can have a resource twice or at a wrong place, and a unique value can seem to be taken.",
  },
  references: {
    what: "table of references",
    effect: "The delete of a resource can be refused or can change others without a reason.",
  },
  words: { what: "table of search words", effect: "The order of search results can be wrong." },
};

/** Rows that match no resource. `rows`: what the first ones are about. */
export function surplusRows(
  kind: DerivedRows,
  { count, rows }: { count: number; rows: readonly string[] },
  { collection, table }: { collection: string; table: string },
): string {
  const { what, effect } = surplusTexts[kind];
  const match = count === 1 ? "1 of its rows matches no resource" : `${count} of its rows match no resource`;
  const named = `${rows.join("; ")}${count > rows.length ? "; and others" : ""}`;
  return `The ${what} of ${collection} is damaged in the store: ${match}: ${named} (table ${table}). ${effect} ${unlessInternal(collection, orBuild)}`;
}

/** Search words that cannot be read, or that are not those of the resources. */
export function brokenWords(collection: string, reason: string, table: string): string {
  return `The search words of ${collection} are damaged in the store: ${reason} (table ${table}). Searches can fail, lack resources, or find others. ${unlessInternal(collection, orBuild)}`;
}

/** A collection whose number of resources or sum of checksums is another one than its head says. */
export function wrongContents(collection: string, difference: string, table: string): string {
  return `The collection ${collection} is damaged in the store: ${difference} (table ${table}). Reads and lists lack what was lost. ${restore}`;
}

/** A collection that lacks its row in a table: its declaration, or its counters. */
export function lostRow(number: number, table: string): string {
  const lost = table.endsWith("collections") ? "declaration" : "counters";
  return `The collection with the number ${number} has lost its ${lost} in the store (table ${table}). Requests to it fail, or do not find it. ${restore}`;
}

/** Counters of a collection that no service has written. */
export function wrongCounters(collection: string, columns: readonly string[], table: string): string {
  const which = columns.length === 1 ? "column" : "columns";
  return `The counters of the collection ${collection} are damaged in the store (table ${table}, ${which} ${columns.join(", ")}). Writes to the collection can get 500 DATA_DAMAGED, and its feed can be wrong. ${unlessInternal(collection, orExport)}`;
}

/** A log that has changes after the last one that its counter knows. */
export function laterChanges(collection: string, end: number, table: string): string {
  return `The change log of ${collection} is damaged in the store: it has changes after ${end}, the last one that its counter knows (table ${table}). Writes to the collection get 500 DATA_DAMAGED. ${orExport}`;
}

/** Changes that are missing in a log. `what` is a whole sentence about them. */
export function missingChanges(what: string, table: string): string {
  return `${what} (table ${table}). The history, lists at a time and the feed lack them. ${restore}`;
}

/** A delete in the log whose id, or a later version of it, is not in the table of deleted ids. */
export function deleteForgotten(collection: string, id: string, table: string): string {
  return `The version of the last delete of ${collection}/${id} is missing in the store (table ${table}), so the id could get a version again, and an old ETag could match it. ${restore}`;
}

/** The highest integer id of a collection is below one that was given. */
export function loweredLastId(
  collection: string,
  { lastId, highest }: { lastId: number; highest: number },
  table: string,
): string {
  return `The counter of the ids of ${collection} is damaged in the store: it says that ${lastId} is the last id, but ${highest} was given (column last_id of the table ${table}). A create could get an id that another resource has or had. ${restore}`;
}

/** A number of the whole store that is missing or has no valid form. */
export function wrongNumber({ name, reason, effect }: WrongNumber, table: string): string {
  return `The number ${name} of the store is damaged: ${reason} (table ${table}). ${effect} ${restore}`;
}

/** Other tables refer to a resource by its key. The service never gives this one. */
export function wrongKey(collection: string, id: string, table: string): string {
  return `${nameOfResource(collection, id)} is damaged in the store: its key is not one that the service gives (table ${table}, column key). Creates in the collection get 500 DATA_DAMAGED. ${unlessInternal(collection, orExport)}`;
}

/** Characters whose folded form in the store is wrong. */
export function wrongFolds(characters: readonly string[], table: string): string {
  const [first] = characters;
  return `The table ${table} is damaged in the store: the folded forms of ${characters.length === 1 ? "1 character" : `${characters.length} characters`} are wrong or missing, from ${JSON.stringify(first)} on. Filters and lists that ignore case or accents can be wrong. Restore a backup, or delete all rows of the table and restart the service, which writes them again.`;
}

/** A part of the store that an error has ended. */
export function unreadable(what: string, reason: string): string {
  return `${what} cannot be read in the store: ${reason}. Requests that need it fail. ${restore}`;
}

/** The name of an index or of a unique attribute. */
export function nameOfPlace(place: Slot | UniqueSlot): string {
  if ("index" in place) return place.index.map(formatKey).join(", ");
  const { path, others = [] } = place.unique;
  return [path, ...others.map((other) => other.path)].map(formatPath).join(", ");
}
