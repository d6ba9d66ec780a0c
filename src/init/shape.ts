/** What the values of one attribute have in common, and the schema that accepts all of them. */
import { isDate, isTimestamp } from "../collection/dates.ts";
import { isObject } from "../json/values.ts";

/** A kind of value. */
type Kind = "null" | "boolean" | "integer" | "number" | "string" | "array" | "object";

/** The schema of an attribute. Objects in it accept other attributes too. An empty schema accepts every value. */
export interface OpenSchema {
  type?: string | readonly string[];
  format?: "date" | "date-time" | "date-value";
  items?: OpenSchema;
  properties?: Readonly<Record<string, OpenSchema>>;
  additionalProperties?: true;
}

/**
 * How much one collection can describe, so that memory is bounded. What is beyond is not described, and the schema accepts it. An
 * object with more than `members` names is taken for one whose names are data.
 */
const limits = { names: 500, members: 100, depth: 8 } as const;

/** What the shapes of one collection share. */
export interface ShapeContext {
  /** How many names can still be described. */
  namesLeft: number;
  /** Whether all values come from texts, as in CSV. Then values of several kinds are strings. */
  isText: boolean;
}

/** A context without any names yet. */
export function createContext({ isText }: Pick<ShapeContext, "isText">): ShapeContext {
  return { namesLeft: limits.names, isText };
}

/** What the values have in common that were added. */
export class Shape {
  readonly #context: ShapeContext;
  readonly #depth: number;
  readonly #kinds = new Set<Kind>();
  readonly #texts = new Set<"day" | "time" | "other">();
  #items: Shape | undefined;
  #members: Map<string, Shape> | undefined = new Map();

  constructor(context: ShapeContext, depth = 0) {
    this.#context = context;
    this.#depth = depth;
  }

  add(value: unknown): void {
    const kind = kindOf(value);
    this.#kinds.add(kind);
    if (typeof value === "string") this.#texts.add(formOf(value));
    else if (Array.isArray(value)) this.#addItems(value);
    else if (isObject(value)) this.#addMembers(value);
  }

  /** The attributes of the objects that were added. */
  get members(): ReadonlyMap<string, Shape> {
    return this.#members ?? new Map();
  }

  /** The kinds of the values, without `null`. */
  get kinds(): readonly Exclude<Kind, "null">[] {
    const kinds = new Set(this.#kinds);
    kinds.delete("null");
    if (kinds.has("number")) kinds.delete("integer");
    const all = [...kinds] as Exclude<Kind, "null">[];
    return this.#context.isText && all.length > 1 ? ["string"] : all;
  }

  /** Whether the values are texts that are not dates, or lists of such texts. */
  get isProse(): boolean {
    const [kind, another] = this.kinds;
    if (another !== undefined) return false;
    if (kind === "array") return this.#items?.kinds[0] === "string" && this.#items.isProse;
    return kind === "string" && (this.#isMixed || this.#texts.has("other"));
  }

  /** The schema that accepts all values. */
  schema(): OpenSchema {
    const [kind, another] = this.kinds;
    if (kind === undefined || another !== undefined) return {};
    const isNullable = this.#kinds.has("null");
    const format = kind === "string" ? this.#format() : undefined;
    if (format === "date-value" && !isNullable) return { format };
    const type = isNullable ? [kind, "null"] : kind;
    if (kind === "array") return { type, ...this.#itemsSchema() };
    if (kind === "object") return { type, ...this.#membersSchema() };
    return format === undefined || format === "date-value" ? { type } : { type, format };
  }

  #addItems(items: readonly unknown[]): void {
    // In a text, an array is JSON, whose values can be of several kinds.
    if (items.length === 0 || this.#depth >= limits.depth || this.#context.isText) return;
    this.#items ??= new Shape(this.#context, this.#depth + 1);
    for (const item of items) this.#items.add(item);
  }

  #addMembers(object: Readonly<Record<string, unknown>>): void {
    if (this.#members === undefined || this.#depth >= limits.depth) return;
    for (const [name, value] of Object.entries(object)) {
      const known = this.#members.get(name) ?? this.#describe(name);
      known?.add(value);
    }
    if (this.#depth > 0 && this.#members.size > limits.members) this.#members = undefined;
  }

  #describe(name: string): Shape | undefined {
    // A literal in a configuration cannot have the name `__proto__`.
    if (this.#context.namesLeft === 0 || name === "__proto__") return undefined;
    this.#context.namesLeft--;
    const shape = new Shape(this.#context, this.#depth + 1);
    this.#members?.set(name, shape);
    return shape;
  }

  #format(): OpenSchema["format"] {
    if (this.#isMixed || this.#texts.has("other")) return undefined;
    if (this.#texts.size > 1) return "date-value";
    return this.#texts.has("day") ? "date" : "date-time";
  }

  /** Whether texts stand beside values of other kinds, which are texts too (CSV). */
  get #isMixed(): boolean {
    return [...this.#kinds].some((kind) => kind !== "string" && kind !== "null");
  }

  #itemsSchema(): OpenSchema {
    const items = this.#items?.schema() ?? {};
    return Object.keys(items).length === 0 ? {} : { items };
  }

  #membersSchema(): OpenSchema {
    const members = [...this.members];
    if (members.length === 0) return {};
    return {
      properties: Object.fromEntries(members.map(([name, shape]) => [name, shape.schema()])),
      additionalProperties: true,
    };
  }
}

function kindOf(value: unknown): Kind {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isSafeInteger(value) ? "integer" : "number";
  return typeof value as "boolean" | "string" | "object";
}

function formOf(text: string): "day" | "time" | "other" {
  if (isDate(text)) return "day";
  return isTimestamp(text) ? "time" : "other";
}

const integerText = /^-?(?:0|[1-9]\d*)$/;

/** The value of a cell: a number, true, false or an array if JSON writes it as exactly this text. Otherwise the text itself. */
export function valueOfText(text: string): unknown {
  if (text === "true" || text === "false") return text === "true";
  if (integerText.test(text) || /^-?\d+\.\d+$/.test(text))
    return String(Number(text)) === text ? Number(text) : text;
  if (!text.startsWith("[")) return text;
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text ? value : text;
  } catch {
    return text;
  }
}
