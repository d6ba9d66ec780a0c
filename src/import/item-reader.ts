/** Checks the items of one input, gives each resource its id, and counts what the report of the import says. */
import type { Collection } from "../collection/collection.ts";
import { withDefaults } from "../collection/defaults.ts";
import { fitId, idJson, reservedIdViolations } from "../collection/ids.ts";
import { shortJson } from "../collection/messages.ts";
import { formatPath } from "../collection/paths.ts";
import { type Proposal, textOf, violationsOf } from "../collection/proposal.ts";
import { resourceText, withoutId } from "../collection/resource.ts";
import { clientAttributes, timestampViolations, withImportedTimestamps } from "../collection/timestamps.ts";
import { pathsOf, type Unique } from "../collection/unique.ts";
import { createUuidSource } from "../collection/uuids.ts";
import { completeProposal, type HooksOfRequest, hookedViolations } from "../collection/write-hooks.ts";
import { Problem, type Violation } from "../errors.ts";
import { wholeBody } from "../json/explain.ts";
import { parseJson, requireObject } from "../json/parse.ts";
import { toFragment } from "../json/pointer.ts";
import type { JsonLimits } from "../json/values.ts";
import { uniqueValue } from "../query/unique-values.ts";
import { takenDetail } from "../store/core/commits/refusals.ts";
import type { ColumnSummary } from "./cells.ts";
import { moveId } from "./id-member.ts";
import {
  faultOf,
  type InputLocation,
  type Item,
  type ItemViolation,
  type TextItem,
  withValue,
} from "./items.ts";
import { isUnfit, type KindOf, keepId, newIdFor, renewReferences, unfitIdViolation } from "./new-ids.ts";
import type { IdMember, NewIds } from "./options.ts";
import type { Spool } from "./spool.ts";

/** A resource of the input. */
export interface Row {
  location: InputLocation;
  /** `undefined` if the collection must generate an integer. */
  id: string | undefined;
  /** Its text. Without an id, the text that follows the id. With `on`, the text as it was sent, not yet checked. */
  text: string;
}

/** One counted item, and what the report says about it. */
export interface Counted<Note> {
  location: InputLocation;
  note: Note;
}

/** What a report says about some items: how many there are, and the first of them. */
export interface Listed<Note = string> {
  readonly count: number;
  /** The first items, in the order of the input. */
  first(): readonly Counted<Note>[];
}

/** Counts items. Keeps the first `maxKept` of them. */
export class Tally<Note = string> implements Listed<Note> {
  readonly #maxKept: number;
  readonly #first: Counted<Note>[] = [];
  #count = 0;

  constructor(maxKept: number) {
    this.#maxKept = maxKept;
  }

  get count(): number {
    return this.#count;
  }

  /** Whether the next item is only counted. */
  get isFull(): boolean {
    return this.#first.length === this.#maxKept;
  }

  add(location: InputLocation, note: Note): void {
    this.#count++;
    if (this.#first.length < this.#maxKept) this.#first.push({ location, note });
  }

  first(): readonly Counted<Note>[] {
    return this.#first.toSorted(
      ({ location: a }, { location: b }) => a.line - b.line || (a.element ?? 0) - (b.element ?? 0),
    );
  }
}

/** What the import of one collection did. */
export interface ImportResult {
  collection: string;
  /** Whether the resources can be written: all of them are valid, or invalid ones are skipped. */
  isAccepted: boolean;
  /** Whether a part of the input cannot be divided into items. */
  isBroken: boolean;
  /** The number of valid resources. With `merged`, without those that are the same. */
  imported: number;
  /** How many of them changed a resource, and how many resources are the same already. Only with a unique key. */
  merged?: Merged | undefined;
  invalid: Listed<readonly ItemViolation[]>;
  /** Resources without an id, which got a generated one. */
  withoutId: Listed;
  /** Resources whose id does not fit the collection, which got another one. */
  unfitId: Listed;
  /** Resources whose id was a number and is now a string. */
  numberId: Listed;
  /** Resources whose id belonged to a resource that was deleted. `undefined` for a task, which passes its resources to the store later. */
  reusedId?: Listed | undefined;
  /** The columns of CSV, at most `maxReportedColumns`. `undefined` for another format. */
  columns?: readonly ColumnSummary[] | undefined;
}

/** The resources that an import by a unique key found. */
export interface Merged {
  changed: number;
  same: number;
}

/** How to read items. */
export interface ReadingOptions {
  limits: JsonLimits;
  /** Import the valid resources even if others are invalid. */
  skipInvalid: boolean;
  /** The unique key by which items change resources (`merge.ts`). @default all items are new resources */
  on?: Unique | undefined;
  /** Which member of an item is its id. @default `id` */
  id?: IdMember | undefined;
  /** How ids that do not fit the collection are replaced. @default they are invalid */
  ids?: NewIds | undefined;
  /** The kinds of ids of other collections, to rewrite references. Needed with `ids`. @default they are UUIDs */
  kindOf?: KindOf | undefined;
  /** The hooks of the collection. @default it has none */
  hooks?: HooksOfRequest | undefined;
  /** The attributes of a collection that follow something outside it. @default none do */
  mirroredIn?: ((collection: string) => Mirrored | undefined) | undefined;
}

/** Attributes that follow something outside the collection, such as the account of a user. */
export interface Mirrored {
  attributes: readonly string[];
  /** The ids, among these, of the resources that have such attributes. */
  having(ids: readonly string[]): Promise<ReadonlySet<string>>;
}

const maxListedInvalid = 50;

/** For so many items, hooks run at once. */
const hookedAtOnce = 100;

/** The resources that are listed for each kind of id. */
export const maxListedIds = 5;

/** Reads the items of one input. */
export class ItemReader {
  readonly collection: Collection;
  readonly invalid = new Tally<readonly ItemViolation[]>(maxListedInvalid);
  readonly #options: ReadingOptions;
  readonly #keys: Pick<Spool, "isNewKey">;
  /** The time of the import as Unix time in milliseconds. */
  readonly at = Date.now();
  readonly newUuid = createUuidSource();
  readonly #withoutId = new Tally(maxListedIds);
  readonly #unfitId = new Tally(maxListedIds);
  readonly #numberId = new Tally(maxListedIds);
  #read = 0;
  #isBroken = false;

  /** `keys` knows the unique keys of all items that were read before. */
  constructor(collection: Collection, options: ReadingOptions, keys: Pick<Spool, "isNewKey">) {
    this.collection = collection;
    this.#options = options;
    this.#keys = keys;
  }

  /** The hooks of the collection; `undefined` without any. */
  get hooks(): HooksOfRequest | undefined {
    return this.#options.hooks;
  }

  /** The number of items that were read. */
  get read(): number {
    return this.#read;
  }

  /** Whether a part of the input cannot be divided into items. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** Whether the resources can be written, as far as they were read. */
  get isAccepted(): boolean {
    return !this.#isBroken && (this.invalid.count === 0 || this.#options.skipInvalid);
  }

  /** The resources of items, in their order. */
  rows(items: readonly Item[]): Iterable<Row> | AsyncIterable<Row> {
    return this.#options.hooks === undefined ? this.#plainRows(items) : this.#hookedRows(items);
  }

  *#plainRows(items: readonly Item[]): Generator<Row> {
    for (const item of items) {
      const row = this.#take(item) as Row | undefined; // without hooks, nothing waits
      if (row !== undefined) yield row;
    }
  }

  async *#hookedRows(items: readonly Item[]): AsyncGenerator<Row> {
    for (let from = 0; from < items.length; from += hookedAtOnce) {
      const taken = await Promise.all(items.slice(from, from + hookedAtOnce).map((item) => this.#take(item)));
      for (const row of taken) if (row !== undefined) yield row;
    }
  }

  /** The resource of an item; `undefined` if the item has none. */
  #take(item: Item): Row | undefined | Promise<Row | undefined> {
    this.#read++;
    const { location } = item;
    if (item.kind === "text") return this.#takeText(item);
    if (item.kind === "refused") {
      this.invalid.add(location, item.violations);
      return undefined;
    }
    if (item.kind === "broken") this.#isBroken = true;
    const reason = item.kind === "broken" ? `${item.reason}; the rest was not read` : item.reason;
    this.invalid.add(location, [faultOf(reason)]);
    return undefined;
  }

  /** The result, after `imported` resources were added or changed. */
  resultFor(
    imported: number,
    {
      merged,
      reused,
      columns,
    }: { merged?: Merged | undefined; reused?: Listed; columns?: readonly ColumnSummary[] | undefined } = {},
  ): ImportResult {
    return {
      collection: this.collection.name,
      isAccepted: this.isAccepted,
      isBroken: this.#isBroken,
      imported,
      merged,
      invalid: this.invalid,
      withoutId: this.#withoutId,
      unfitId: this.#unfitId,
      numberId: this.#numberId,
      reusedId: reused,
      columns,
    };
  }

  #takeText(item: TextItem): Row | undefined | Promise<Row | undefined> {
    const { collection } = this;
    const { location } = item;
    const { limits, on, ids, id: member, kindOf, hooks } = this.#options;
    if (on !== undefined) {
      const plain = readPlain(item, { collection, limits, on, id: member, keys: this.#keys });
      return this.#rowOf(location, plain);
    }
    const rules = { collection, limits, at: this.at, id: member, ids, kindOf };
    const read = readResource(item, rules);
    if (!("proposal" in read)) return this.#rowOf(location, read);
    if (hooks === undefined)
      return this.#rowOf(location, validResource(read, rules, violationsOf(read.proposal)));
    return hookedResource(read, rules, hooks).then((resource) => this.#rowOf(location, resource));
  }

  #rowOf(location: InputLocation, resource: ValidResource | readonly ItemViolation[]): Row | undefined {
    const { collection } = this;
    const { on } = this.#options;
    if (!("textWith" in resource)) {
      this.invalid.add(location, resource);
      return undefined;
    }
    if (on === undefined) this.#noteId(location, resource);
    const isNew = on === undefined && collection.idKind === "uuid";
    const id = resource.id ?? (isNew ? this.newUuid() : undefined);
    if (id !== undefined) return { location, id, text: resource.textWith(id) };
    const start = `{"id":${idJson(collection.idKind, "0")}`;
    return { location, id, text: resource.textWith("0").slice(start.length) };
  }

  /** Notes that a resource without an id gets a new one. */
  noteNewId(location: InputLocation): void {
    this.#withoutId.add(location, "");
  }

  #noteId(location: InputLocation, { id, unfitId, hasNumberId }: ValidResource): void {
    if (unfitId !== undefined) this.#unfitId.add(location, unfitId);
    else if (id === undefined) this.#withoutId.add(location, "");
    else if (hasNumberId && this.collection.idKind === "uuid") this.#numberId.add(location, id);
  }
}

/** A valid resource. */
interface ValidResource {
  /** The id; `undefined` if the resource needs a generated one. */
  id: string | undefined;
  /** An id in the input that does not fit the collection, as JSON. */
  unfitId: string | undefined;
  /** Whether the id is a number in the input. */
  hasNumberId: boolean;
  /** The text of the resource with an id. */
  textWith(id: string): string;
}

/** What a resource must fit, and the time of the import as Unix time in milliseconds. */
interface ResourceRules extends Pick<ReadingOptions, "limits" | "id" | "ids" | "kindOf"> {
  collection: Collection;
  at: number;
}

/** A resource whose attributes are not checked yet. */
interface ReadResource {
  value: Record<string, unknown>;
  /** What is wrong with its id. */
  found: readonly Violation[];
  proposal: Proposal;
  unfitId: string | undefined;
  hasNumberId: boolean;
}

/** Parses the text of an item, in the same way as the body of a create. If it is no resource, returns what is wrong. */
function readResource(
  item: TextItem,
  { collection, limits, at, id: member, ids, kindOf = () => "uuid" }: ResourceRules,
): ReadResource | readonly ItemViolation[] {
  const value = parseObject(item, limits);
  if (typeof value === "string") return [faultOf(value)];
  const unclear = member === undefined ? [] : moveId(value, member, ids);
  if (unclear.length > 0) return unclear.map((each) => withValue(each, value));
  const { idKind } = collection;
  const unfit = Object.hasOwn(value, "id") && isUnfit(idKind, value.id) ? { id: value.id } : undefined;
  const found = unfit === undefined ? [] : replaceId(value, { collection, ids });
  if (ids !== undefined) renewReferences(value, collection, kindOf);
  return {
    value,
    found: [...found, ...timestampViolations(collection, value, at)],
    proposal: proposeImported(collection, value, at),
    unfitId: unfit && shortJson(unfit.id),
    hasNumberId: unfit === undefined && typeof value.id === "number",
  };
}

/** The resource, or everything that is wrong with it. */
function validResource(
  { value, found, proposal, unfitId, hasNumberId }: ReadResource,
  { collection }: ResourceRules,
  ofAttributes: readonly Violation[],
): ValidResource | readonly ItemViolation[] {
  const violations = [...found, ...ofAttributes];
  if (violations.length > 0) return violations.map((each) => withValue(each, value));
  return {
    id: fitId(collection.idKind, value.id),
    unfitId,
    hasNumberId,
    textWith: (finalId) => textOf(proposal, finalId),
  };
}

async function hookedResource(
  read: ReadResource,
  rules: ResourceRules,
  hooks: HooksOfRequest,
): Promise<ValidResource | readonly ItemViolation[]> {
  const id = fitId(rules.collection.idKind, read.value.id);
  const created = { operation: "create", id, previous: undefined } as const;
  const proposal = await completeProposal(read.proposal, created, hooks);
  return validResource({ ...read, proposal }, rules, await hookedViolations(proposal, created, hooks));
}

/** Gives a resource an id that fits, or removes its id so that it gets an integer. If it returns violations, it has changed nothing. */
function replaceId(
  value: Record<string, unknown>,
  { collection: { name, idKind }, ids }: Pick<ResourceRules, "collection" | "ids">,
): Violation[] {
  const text = fitId(idKind, value.id);
  if (ids === undefined)
    return text === undefined ? [unfitIdViolation(idKind, value.id)] : reservedIdViolations(text);
  const overwritten = keepId(value, ids);
  if (overwritten.length > 0) return overwritten;
  // What is empty is not the id of one resource, so nothing refers to it.
  if (idKind === "integer" || value.id === null || value.id === "") delete value.id;
  else value.id = newIdFor(name, value.id);
  return [];
}

/** A new resource with defaults. It keeps the timestamps of the item. */
export function proposeImported(
  collection: Collection,
  value: Record<string, unknown>,
  at: number,
): Proposal {
  return {
    collection,
    attributes: withDefaults(clientAttributes(collection, value), collection.defaults, { at }),
    textWith: (attributes, id) => {
      const all = collection.timestamps ? withImportedTimestamps(attributes, value, at) : attributes;
      return resourceText(collection.idKind, id, all);
    },
  };
}

/** The text of an item as it was sent. Only its JSON, its id and its unique key are checked. */
function readPlain(
  item: TextItem,
  {
    collection: { idKind },
    limits,
    on,
    id: member,
    keys,
  }: Omit<ResourceRules, "at"> & { on: Unique; keys: Pick<Spool, "isNewKey"> },
): ValidResource | readonly ItemViolation[] {
  const value = parseObject(item, limits);
  if (typeof value === "string") return [faultOf(value)];
  const unclear = member === undefined ? [] : moveId(value, member);
  if (unclear.length > 0) return unclear.map((each) => withValue(each, value));
  const id = fitId(idKind, value.id);
  const detail = "does not fit the collection. Leave it out";
  if (id === undefined && Object.hasOwn(value, "id"))
    return [withValue({ in: "body", pointer: "#/id", code: "id", detail }, value)];
  const reserved = id === undefined ? [] : reservedIdViolations(id);
  if (reserved.length > 0) return reserved.map((each) => withValue(each, value));
  const key = uniqueValue(value, on);
  if (key === undefined) {
    const names = pathsOf(on).map(formatPath).join(" and ");
    return faultsOfKey("required", `is needed, because the import finds resources by ${names}`);
  }
  if (!keys.isNewKey(key)) return faultsOfKey("unique", takenDetail([], "an earlier resource of the input"));
  const textWith = (finalId: string) => resourceText(idKind, finalId, withoutId(value));
  return { id, unfitId: undefined, hasNumberId: false, textWith };

  function faultsOfKey(code: string, keyDetail: string): ItemViolation[] {
    return pathsOf(on).map((path) =>
      withValue({ in: "body", pointer: toFragment(path), code, detail: keyDetail }, value as object),
    );
  }
}

/** A comment beside a value, a name without double quotes, or a comma before the end. */
const json5 = /(?:^|[{}[\],])\s*\/[/*]|(?:^|[{,])\s*(?:[A-Za-z_$][\w$]*|'[^']*')\s*:|,\s*[}\]]\s*$/;

/** The most characters that are looked at. */
const json5Start = 1_000;

function looksLikeJson5(text: string): boolean {
  return json5.test(text.slice(0, json5Start).replaceAll(/"(?:[^"\\]|\\.)*"/g, '""'));
}

const json5Hint = "It looks like JSON5. Convert it to JSON first, for example with npx json5.";

/** The object in an item, or what is wrong with its text. */
export function parseObject(
  { bytes, isGenerated }: TextItem,
  limits: JsonLimits,
): Record<string, unknown> | string {
  try {
    return requireObject(parseJson(bytes, limits), { insteadOfArray: "write one resource per line" });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const hint = isGenerated !== true && looksLikeJson5(bytes.toString()) ? ` ${json5Hint}` : "";
    const message = error.message.replace(wholeBody, "The resource") + hint;
    if (isGenerated === true) return message.replace(/ \((?:line \d+, )?column \d+\)/, "");
    // The report names the line of the input, so the "line 1" of a text with one line would mislead.
    return bytes.includes(0x0a) ? message : message.replace(/\bline 1, (column \d+)/, "$1");
  }
}
