/** What the store keeps about computed attributes: the version of each, and how far the stored resources are computed again. */
import { hash } from "node:crypto";
import { openCollection } from "../../../collection/collection.ts";
import { put, Records, remove, type Versioned } from "../../../records.ts";
import type { Change } from "../../../store/port/commit.ts";
import type { ServingStore } from "../../../store/port/store.ts";
import type { ComputedAttribute, ComputedAttributes } from "../settings.ts";

/** The internal collection. Each collection with computed attributes has a record under its name. */
const computedCollection = openCollection("_computed");

/** The computed attributes of one collection, as the store knows them. */
export interface ComputedRecord {
  /** By name. */
  attributes: Readonly<Record<string, AttributeState>>;
  /** The id of the last resource that was computed again; null at the beginning of a pass. */
  after: string | null;
  /** How many resources this pass has looked at. */
  done: number;
  /** For how many of them the functions failed. */
  failed: number;
  /** Whether the pass goes from the last id to the first one. @default false */
  isBackward?: boolean;
}

/** One computed attribute. */
interface AttributeState {
  version: number;
  /** A hash of what the configuration says about it beside the version. */
  form: string;
  /** Whether stored resources can lack it, because it has never been complete. */
  isNew: boolean;
  /** Whether all resources have the value of this version. */
  isComplete: boolean;
}

/** The records of one store. */
export class ComputedRecords {
  readonly #records: Records;

  constructor(store: ServingStore) {
    this.#records = new Records(store, [computedCollection]);
  }

  read(collection: string): Promise<Versioned<ComputedRecord> | undefined> {
    return this.#records.read(computedCollection.name, collection);
  }

  /** All records, by the names of the collections. */
  async all(): Promise<ReadonlyMap<string, Versioned<ComputedRecord>>> {
    const found = new Map<string, Versioned<ComputedRecord>>();
    for (;;) {
      const last = [...found.keys()].at(-1);
      const { records, more } = await this.#records.list<ComputedRecord & { id: string }>({
        collection: computedCollection.name,
        limit: 500,
        ...(last !== undefined && { after: [last] }),
      });
      for (const each of records) found.set(each.value.id, each);
      if (!more) return found;
    }
  }

  /** Writes a record, together with changes of resources. Throws PRECONDITION_FAILED if another instance was faster. */
  async write(
    collection: string,
    before: Versioned<ComputedRecord> | undefined,
    next: ComputedRecord,
    { at, changes = [], principal }: { at: number; changes?: readonly Change[]; principal?: string },
  ): Promise<void> {
    const change = put(computedCollection.name, collection, before?.version, next);
    await this.#records.commit([...changes, change], at, principal === undefined ? {} : { principal });
  }

  /** Removes a record that was read. Throws PRECONDITION_FAILED if another instance was faster. */
  async remove(collection: string, { version }: Versioned<ComputedRecord>, at: number): Promise<void> {
    await this.#records.commit([remove(computedCollection.name, collection, version)], at);
  }
}

/**
 * Removes what the store knows about collections without computed attributes. If these are declared again, they count as new, because
 * nothing has computed them in the meantime.
 */
export async function forgetUndeclared(
  records: ComputedRecords,
  declared: ReadonlyMap<string, unknown>,
  at: number,
): Promise<void> {
  for (const [name, before] of await records.all())
    if (!declared.has(name)) await records.remove(name, before, at);
}

/**
 * The record with what the configuration declares now. The same one if it says the same. `isEmpty`: whether the collection has no
 * resources, so that there is nothing to compute.
 */
export function recordNow(
  before: ComputedRecord | undefined,
  declared: ComputedAttributes,
  { isEmpty }: { isEmpty: boolean },
): ComputedRecord {
  const known = before?.attributes ?? {};
  const states = [...declared].map(([name, attribute]) => {
    const state = Object.hasOwn(known, name) ? known[name] : undefined;
    return [name, stateNow(state, attribute, isEmpty)] as const;
  });
  const isSame =
    before !== undefined &&
    states.length === Object.keys(known).length &&
    states.every(([name, state]) => state === known[name]);
  return isSame ? before : { attributes: Object.fromEntries(states), after: null, done: 0, failed: 0 };
}

function stateNow(
  known: AttributeState | undefined,
  { version, from, schema }: ComputedAttribute,
  isEmpty: boolean,
): AttributeState {
  const form = formOf({ from, schema });
  if (known !== undefined && (known.version > version || (known.version === version && known.form === form)))
    return known;
  const isNew = known === undefined || (known.isNew && !known.isComplete);
  return { version, form, isNew: isNew && !isEmpty, isComplete: isEmpty };
}

function formOf({ from, schema }: Pick<ComputedAttribute, "from" | "schema">): string {
  return hash("sha256", JSON.stringify([from, schema]), "base64url").slice(0, 16);
}

/** Whether a record is about exactly these attributes. An instance with other code can have changed it. */
export function isRecordOf({ attributes }: ComputedRecord, declared: ComputedAttributes): boolean {
  return (
    Object.keys(attributes).length === declared.size &&
    [...declared].every(([name, attribute]) => {
      const state = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
      return state?.version === attribute.version && state.form === formOf(attribute);
    })
  );
}

/** The record after a pass in which no function failed. */
export function completed({ attributes }: ComputedRecord): ComputedRecord {
  const states = Object.entries(attributes).map(
    ([name, state]) => [name, { ...state, isNew: false, isComplete: true }] as const,
  );
  return { attributes: Object.fromEntries(states), after: null, done: 0, failed: 0 };
}

/** The attributes that stored resources can have with an earlier value, or lack. */
export function incompleteIn({ attributes }: ComputedRecord): string[] {
  return namesWhere(attributes, ({ isComplete }) => !isComplete);
}

/** The attributes that stored resources can lack. */
export function newIn({ attributes }: ComputedRecord): string[] {
  return namesWhere(attributes, ({ isNew }) => isNew);
}

function namesWhere(
  attributes: ComputedRecord["attributes"],
  isWanted: (state: AttributeState) => boolean,
): string[] {
  return Object.keys(attributes).filter((name) => isWanted(attributes[name] as AttributeState));
}
