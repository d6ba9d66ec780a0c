/** Reads schemas and rules as far as columns, editors and pickers need it. The service checks everything itself. */

/** A part of a JSON Schema. */
export interface SchemaPart {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, SchemaPart | boolean>>;
  readonly required?: readonly string[];
  readonly items?: SchemaPart | boolean;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly description?: string;
  readonly title?: string;
  readonly maxLength?: number;
  readonly additionalProperties?: SchemaPart | boolean;
}

/** The attributes of a collection, by its schema. Without a schema, there are none. */
export function propertiesOf(
  info: { readonly schema: object | boolean | null } | undefined,
): Readonly<Record<string, SchemaPart | boolean>> {
  const schema = info?.schema;
  return typeof schema === "object" && schema !== null ? ((schema as SchemaPart).properties ?? {}) : {};
}

/** What an attribute holds, as far as a column or an editor differs. */
export type Kind =
  | "id"
  | "text"
  | "long"
  | "number"
  | "integer"
  | "exact"
  | "boolean"
  | "time"
  | "date"
  | "choice"
  | "list"
  | "object"
  | "reference"
  | "any";

/** The kind of an attribute by its schema. */
export function kindOf(part: SchemaPart | boolean | undefined): Kind {
  if (part === undefined || typeof part === "boolean") return "any";
  if (part.enum !== undefined) return "choice";
  const types = (typeof part.type === "string" ? [part.type] : (part.type ?? [])).filter(
    (each) => each !== "null",
  );
  const [only] = types;
  if (types.length !== 1 || only === undefined) return "any";
  if (only === "string") {
    if (part.format === "date-time") return "time";
    if (part.format === "date") return "date";
    if (part.format === "decimal" || part.format === "int64") return "exact";
    return (part.maxLength ?? 0) > 300 ? "long" : "text";
  }
  if (only === "array") return "list";
  return (["number", "integer", "boolean", "object"] as const).find((each) => each === only) ?? "any";
}

/** The kind of an attribute by its values, for collections without a schema. */
export function kindOfValues(values: readonly unknown[]): Kind {
  const kinds = new Set(values.filter((each) => each !== undefined && each !== null).map(kindOfValue));
  const [only] = kinds;
  return kinds.size === 1 && only !== undefined ? only : "any";
}

function kindOfValue(value: unknown): Kind {
  if (typeof value === "string") {
    if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(value)) return "time";
    return value.length > 120 || value.includes("\n") ? "long" : "text";
  }
  if (typeof value === "number") return "number";
  if (typeof value === "boolean") return "boolean";
  return Array.isArray(value) ? "list" : "object";
}

/** Whether null is allowed. */
export function allowsNull(part: SchemaPart | boolean | undefined): boolean {
  if (part === undefined || typeof part === "boolean") return true;
  if (part.enum !== undefined) return part.enum.includes(null);
  return part.type === undefined || (Array.isArray(part.type) && part.type.includes("null"));
}

/** The attributes that people call a resource by, the best first. */
export const titleNames = ["title", "name", "label", "subject", "email", "slug"];

/** What people call a resource: its first short text. */
export function titleOf(resource: Readonly<Record<string, unknown>> | undefined): string | undefined {
  for (const name of titleNames) {
    const value = resource?.[name];
    if (typeof value === "string" && value.trim() !== "") return value.trim().slice(0, 200);
  }
  return undefined;
}

/** The names of the claims in rules, such as `tenant` in `"$claims.tenant"`. */
export function claimNames(rules: unknown): string[] {
  const found = JSON.stringify(rules ?? null).matchAll(/"\$claims\.([^"\\]+)"/g);
  return [...new Set([...found].map(([, name]) => name as string))].slice(0, 10);
}

/** A claim that the user wrote: JSON such as `["a","b"]` or `7`, otherwise a text. */
export function claimValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/**
 * The query string that finds resources by words: by the search of the collection, else by a title that contains them, else by their
 * id. An id is always found by itself.
 */
export function pickerQuery(words: string, search: readonly string[], names: readonly string[]): string {
  if (words === "") return "";
  if (/^[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(words)) return new URLSearchParams({ id: words }).toString();
  if (search.length > 0) return new URLSearchParams({ q: words }).toString();
  const title = titleNames.find((each) => names.includes(each));
  return new URLSearchParams(
    title === undefined ? { id: words } : { [`${title}:contains`]: words },
  ).toString();
}
