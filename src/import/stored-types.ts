/** Compares the types of the columns of an import with the resources that are stored. */
import { typeOf } from "../collection/attributes.ts";
import { shortJson } from "../collection/messages.ts";
import { formatPath, type Path, valueAt } from "../collection/paths.ts";
import { Problem, StartError } from "../errors.ts";
import { anyOf, type Filter } from "../query/filter.ts";
import type { Store } from "../store/port/store.ts";
import type { CellType } from "./cells.ts";
import type { InferredColumn, TableOptions } from "./table.ts";

/** The most columns that one query compares, and the most that all queries of one import compare. */
const maxColumns = { atOnce: 50, all: 1_000 };

/**
 * Compares columns with the stored resources of a collection. The function throws StartError if a resource has another type in the attribute
 * of a column, or if there are too many resources or columns to compare.
 */
export function sameTypesIn(
  store: Pick<Store, "list">,
  collection: string,
): NonNullable<TableOptions["requireSameTypes"]> {
  return async (columns) => {
    const { items: any } = await store.list({ collection, limit: 1 });
    if (any.length === 0) return;
    if (columns.length > maxColumns.all)
      throw new StartError(
        `${columns.length} columns have no declared type. With types=infer, at most ${maxColumns.all} can be compared with the resources of ${collection}. Declare their types in a schema.`,
      );
    for (let from = 0; from < columns.length; from += maxColumns.atOnce) {
      const compared = columns.slice(from, from + maxColumns.atOnce);
      const filter = anyOf(compared.map(hasOtherType));
      const { items } = await store.list({ collection, limit: 1, filter }).catch((error: unknown) => {
        throw error instanceof Problem && error.code === "QUERY_TOO_EXPENSIVE" ? tooMany(collection) : error;
      });
      const [found] = items;
      if (found !== undefined) throw otherType(compared, { collection, ...found });
    }
  };
}

/** Matches a resource whose attribute has a value of another type. Null fits every type. */
function hasOtherType({ path, type }: InferredColumn): Filter {
  const ofSameType = anyOf<Filter>([
    { kind: "in", path, values: [null] },
    ...valuesOf[jsonTypeOf(type)](path),
  ]);
  return {
    kind: "and",
    filters: [
      { kind: "exists", path, value: true },
      { kind: "not", filter: ofSameType },
    ],
  };
}

type JsonType = Exclude<CellType, "date">;

function jsonTypeOf(type: CellType): JsonType {
  return type === "date" ? "string" : type;
}

/** Filters that together match every value of a type. */
const valuesOf: Readonly<Record<JsonType, (path: Path) => Filter[]>> = {
  number: (path) => [
    { kind: "gte", path, values: [0] },
    { kind: "lt", path, values: [0] },
  ],
  boolean: (path) => [{ kind: "in", path, values: [true, false] }],
  string: (path) => [{ kind: "gte", path, values: [""] }],
};

const plurals: Readonly<Record<CellType, string>> = {
  number: "numbers",
  boolean: "booleans",
  date: "dates",
  string: "texts",
};

function otherType(
  columns: readonly InferredColumn[],
  { collection, id, text }: { collection: string; id: string; text: string },
): StartError {
  const resource = JSON.parse(text) as Record<string, unknown>;
  const other = columns.find(({ path, type }) => {
    const value = valueAt(resource, path);
    return value !== undefined && value !== null && typeOf(value) !== jsonTypeOf(type);
  });
  const { path, type } = other ?? (columns[0] as InferredColumn);
  const value = shortJson(valueAt(resource, path));
  return new StartError(
    `The column ${JSON.stringify(formatPath(path))} has ${plurals[type]}, but ${collection}/${id} has ${value} in this attribute. Give the attribute one type: change the stored resources or the file, or declare the type in a schema.`,
  );
}

function tooMany(collection: string): StartError {
  return new StartError(
    `${collection} has too many resources to compare the types of its attributes with those of the columns. Declare the types in a schema.`,
  );
}
