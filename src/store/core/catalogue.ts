/** The collections of a store, with their table numbers and the references between them. */
import type { IdKind } from "../../collection/ids.ts";
import type { Index } from "../../collection/indexes.ts";
import type { Reference } from "../../collection/references.ts";
import type { Unique } from "../../collection/unique.ts";
import { StartError } from "../../errors.ts";
import type { CollectionRecord } from "../port/record.ts";
import type { Dialect } from "../sql/dialect.ts";
import type { Plan, Row, Value } from "../sql/plans.ts";
import { allOf, command, firstOf, type Query, query, type Selection } from "../sql/table.ts";
import { declarationColumns, declarationForms } from "./declaration-forms.ts";
import { changeSlots, type Derived, type Numbered, noSlots, numberedOf, type Slots } from "./entries.ts";

/** A collection with its number, which is part of the names of its tables. */
export interface NumberedCollection extends CollectionRecord, Numbered {
  number: number;
  unique: readonly Unique[];
  references: readonly Reference[];
  timestamps: boolean;
  numbers: Slots;
}

/** The columns of a declaration in the table of collections. `read` throws StartError if one is damaged. */
export const declarations: Selection<NumberedCollection> = {
  sql: declarationColumns.join(", "),
  read: declarationIn,
};

/** The collections whose declarations can be read, and messages about the others. */
export interface ReadableCatalogue {
  collections: readonly NumberedCollection[];
  damage: readonly string[];
}

function readableIn(rows: readonly Row[]): ReadableCatalogue {
  const collections: NumberedCollection[] = [];
  const damage: string[] = [];
  for (const row of rows)
    try {
      collections.push(declarationIn(row));
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      damage.push(error.message);
    }
  return { collections, damage };
}

function declarationIn(row: Row): NumberedCollection {
  const [number, name, idKind, schema, indexes, search, uniques, refers, timestamps, slots] = row;
  const forms = declarationForms(row);
  const wrong = declarationColumns.filter((_, n) => forms[n] === false);
  if (wrong.length > 0)
    throw new StartError(
      `The declaration of the collection ${name} is damaged in the store (table collections, ${wrong.length === 1 ? "column" : "columns"} ${wrong.join(", ")}), so the service does not start. Restore a backup.`,
    );
  const parse = (text: unknown) => JSON.parse(String(text));
  const keyed = { indexes: parse(indexes), unique: parse(uniques) };
  const numbers: Slots = parse(slots);
  return {
    number: Number(number),
    name: String(name),
    idKind: idKind as IdKind,
    schema: schema === null ? undefined : String(schema),
    search: parse(search),
    references: parse(refers),
    timestamps: Number(timestamps) === 1 || timestamps === "t",
    numbers,
    ...keyed,
    ...numberedOf(keyed, numbers),
  };
}

/** The table of collections. */
export class CataloguePlans {
  /** All collections, in the order in which they were created. */
  readonly all: () => Plan<NumberedCollection[]>;
  /** The collections whose declarations can be read, and messages about the others. */
  readonly readable: () => Plan<ReadableCatalogue>;
  readonly find: (name: string) => Plan<NumberedCollection | undefined>;
  readonly #put: Query<readonly Value[], void>;

  constructor({ tablePrefix }: Dialect) {
    const selected = `select ${declarations.sql} from ${tablePrefix}collections`;
    this.all = query(`${selected} order by number`, allOf(declarations));
    this.readable = query(`${selected} order by number`, readableIn);
    this.find = query(`${selected} where name = $1::text`, firstOf(declarations));
    const replaced = declarationColumns.slice(2);
    this.#put = command(
      `insert into ${tablePrefix}collections (${declarations.sql}) values ($1::bigint, $2::text, $3::text, $4::text,
          $5::text, $6::text, $7::text, $8::text, $9::boolean, $10::text)
        on conflict (number) do update set ${replaced.map((name) => `${name} = excluded.${name}`).join(", ")}`,
    );
  }

  /** Adds a declaration, or replaces the previous one. */
  put({ number, name, idKind, schema, timestamps, ...others }: NumberedCollection): Plan<void> {
    const { indexes, search, unique, references, numbers } = others;
    const lists = [indexes, search, unique, references].map((list) => JSON.stringify(list));
    return this.#put(
      number,
      name,
      idKind,
      schema ?? null,
      ...lists,
      Number(timestamps),
      JSON.stringify(numbers),
    );
  }
}

/** The parts of a declaration that have numbers or search words. */
type Numbering = Derived & Pick<NumberedCollection, "numbers">;

/** A new collection before its declaration. */
export const undeclared: Numbering = { indexes: [], unique: [], search: [], numbers: noSlots };

/** A collection after a new declaration. */
export function redeclared(
  record: CollectionRecord,
  before: Numbering & { number: number },
): NumberedCollection {
  const { unique = [], references = [], timestamps = false } = record;
  const numbers = changeSlots(before, before.numbers, record);
  const { number } = before;
  return { ...record, unique, references, timestamps, number, numbers, ...numberedOf(record, numbers) };
}

/** A collection with other numbers. */
export function renumbered<C extends NumberedCollection>(collection: C, numbers: Slots): C {
  return { ...collection, numbers, ...numberedOf(collection, numbers) };
}

/** The complete indexes of a collection. */
export function builtIndexes({ slots }: NumberedCollection): readonly Index[] {
  return slots.map(({ index }) => index);
}

/** The message for a new kind of ids in a collection that has resources. */
export function idKindChanged({ name, idKind }: CollectionRecord, after: CollectionRecord): string {
  return (
    `collections.${name}.id: the store has resources with ids of kind "${idKind}", which cannot become "${after.idKind}". ` +
    `Declare "${idKind}" again, or import the resources into a collection with another name.`
  );
}

/** A reference from the collection `from` to another one. */
export interface Referrer<C extends NumberedCollection = NumberedCollection> {
  from: C;
  reference: Reference;
}

/** The collections of a store at a point in time. */
export class Catalogue<C extends NumberedCollection = NumberedCollection> {
  readonly byName: ReadonlyMap<string, C>;
  readonly byNumber: ReadonlyMap<number, C>;
  readonly #referrers = new Map<string, Referrer<C>[]>();

  constructor(collections: Iterable<C>) {
    const all = [...collections];
    this.byName = new Map(all.map((each) => [each.name, each]));
    this.byNumber = new Map(all.map((each) => [each.number, each]));
    for (const from of all) {
      for (const reference of from.references) {
        const known = this.#referrers.get(reference.collection);
        if (known === undefined) this.#referrers.set(reference.collection, [{ from, reference }]);
        else known.push({ from, reference });
      }
    }
  }

  /** The references to a collection. */
  referrersTo(name: string): readonly Referrer<C>[] {
    return this.#referrers.get(name) ?? none;
  }
}

const none: readonly never[] = [];
