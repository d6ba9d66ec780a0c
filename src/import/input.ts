/** What an input of an import is: its format, and where its resources are. The command and the service read inputs in the same way. */
import { attributeInfo } from "../collection/attributes.ts";
import type { Collection } from "../collection/collection.ts";
import { fitId } from "../collection/ids.ts";
import { shortJson } from "../collection/messages.ts";
import { StartError } from "../errors.ts";
import { isObject, type JsonLimits } from "../json/values.ts";
import type { CellOptions } from "./cells.ts";
import type { Item, Items } from "./items.ts";
import { readNested } from "./nested-list.ts";
import type { IdMember } from "./options.ts";
import { readCsv } from "./read-csv.ts";
import { type JsonForm, readJson } from "./read-json.ts";
import type { TableOptions } from "./table.ts";

/** How an input is read. Each member that is missing is found out from the input. */
export interface InputFormat {
  form?: JsonForm | "csv" | undefined;
  /** The character between the cells of CSV. @default "," if the header does not look like another one */
  delimiter?: string | undefined;
  /** Where the list of resources is in one JSON object: names with dots between them, or "." for the object itself. */
  at?: string | undefined;
}

/** What the resources of an input are for, its bounds, and how the cells of CSV are read. */
export interface InputRules extends CellOptions, TableOptions {
  collection: Collection;
  /** The limit for the text of one resource. */
  maxBytes: number;
  /** The limits of the header of CSV. @default none */
  limits?: JsonLimits | undefined;
  /** Which member of an item is its id. The reader of the items (`item-reader.ts`) must know it too. @default `id` */
  id?: IdMember | undefined;
}

/**
 * The items of an input. Ends after a broken item. Throws StartError if the input has another format, or if it is one JSON object that
 * contains the resources.
 */
export function readInput(
  input: AsyncIterable<Buffer>,
  { form, delimiter, at }: InputFormat,
  rules: InputRules,
): AsyncIterable<Items> {
  const { maxBytes } = rules;
  if (form === "csv") return readCsv(input, { ...rules, delimiter });
  if (at !== undefined) return readNested(input, at, maxBytes);
  const beginning = new Beginning(input);
  return requireResources(readJson(beginning, { maxBytes, form }), { ...rules, form, beginning });
}

/** An input that keeps its first bytes, for a message about an object that is larger than a resource. */
class Beginning {
  readonly #input: AsyncIterable<Buffer>;
  #bytes: Buffer = Buffer.alloc(0);

  constructor(input: AsyncIterable<Buffer>) {
    this.#input = input;
  }

  /** The first characters that were read. */
  get text(): string {
    return this.#bytes.toString();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for await (const chunk of this.#input) {
      const missing = maxBeginning - this.#bytes.length;
      if (missing > 0) this.#bytes = Buffer.concat([this.#bytes, chunk.subarray(0, missing)]);
      yield chunk;
    }
  }
}

/** The most bytes that are kept from the beginning of an input. */
const maxBeginning = 4_096;

/** The most lines that are held until it is known whether they are one object. */
const maxHeld = 1_000;

interface ObjectRules extends InputRules {
  form: JsonForm | undefined;
  beginning: Beginning;
}

/**
 * Passes the items on. Throws StartError if the first of several lines is only the beginning of an object, or if the input is one object
 * without an id that contains a list of objects which the schema does not declare: then the list has the resources. With the form `array`,
 * it throws for all objects and lines.
 */
async function* requireResources(input: AsyncIterable<Items>, rules: ObjectRules): AsyncGenerator<Items> {
  const { maxBytes } = rules;
  const held: Item[] = [];
  let heldBytes = 0;
  let bytesRead = 0;
  /** What the input is: one object over several lines, or resources. `undefined` before its second item. */
  let kind: "object" | "resources" | undefined;
  for await (const part of input) {
    bytesRead = part.bytesRead;
    if (kind === "resources") {
      yield part;
      continue;
    }
    for (const item of part.items) {
      held.push(item);
      heldBytes += item.kind === "text" ? item.bytes.length : 0;
    }
    const isKnown = held.length > 1 || held[0]?.location.element !== undefined;
    if (isKnown) kind ??= isSpread(held) ? "object" : "resources";
    if (kind === "resources") requireForm(held, rules);
    // More lines of an object can name the list that is in it.
    if (kind === "object" && (heldBytes >= maxBytes || held.length >= maxHeld)) break;
    yield { items: kind === "resources" ? held.splice(0) : [], bytesRead };
  }
  if (kind === "object") throw severalLines(held, rules);
  const [only] = held;
  if (only !== undefined && only.location.element === undefined) requireResource(only, rules);
  yield { items: held, bytesRead };
}

/** Throws StartError if the first of several items is a line, and not an element of the array that the input must be. */
function requireForm([first]: readonly Item[], { form, beginning }: ObjectRules): void {
  if (form !== "array" || first === undefined || first.location.element !== undefined) return;
  const excerpt = JSON.stringify(beginning.text.trimStart().slice(0, 20));
  throw new StartError(
    `The input is not a JSON array: it begins with ${excerpt}. If it has one JSON object on each line, its format is NDJSON, which is application/x-ndjson.`,
  );
}

/** A line inside an object: a name, as JSON or JSON5 writes it, a bracket or a comment. */
const insideObject = /^\s*(?:["'}[\]]|\/[/*]|[A-Za-z_$][\w$]*\s*:)/;

/** Whether one JSON object has several lines: the first is not whole, and the second is inside the object. */
function isSpread([first, second]: readonly Item[]): boolean {
  if (first?.kind !== "text" || second?.kind !== "text" || first.location.element !== undefined) return false;
  return parsed(first.bytes) === undefined && insideObject.test(second.bytes.toString("latin1"));
}

/** Throws StartError if the only line of an input is not a resource, but contains them. */
function requireResource(only: Item, rules: ObjectRules): void {
  const { form, collection, beginning } = rules;
  const value = only.kind === "text" ? parsed(only.bytes) : undefined;
  const isWhole = isObject(value);
  const all = isWhole ? listsIn(value) : firstList(beginning.text);
  if (form === "array") throw oneObject(all, rules);
  if (only.kind === "text" && !isWhole) return; // the JSON parser says what is wrong
  // A resource that was exported has an id.
  const hasId = isWhole
    ? fitId(collection.idKind, value.id) !== undefined
    : /^\s*\{\s*"id"\s*:/.test(beginning.text);
  if (hasId) return;
  const lists = all.filter(([name]) => !attributeInfo(collection, [name as string]).isDeclared);
  if (lists.length > 0) throw oneObject(lists, rules);
}

function severalLines(items: readonly Item[], rules: ObjectRules): StartError {
  const text = items.map((item) => (item.kind === "text" ? item.bytes.toString() : "")).join("\n");
  const value = parsed(Buffer.from(text));
  return oneObject(isObject(value) ? listsIn(value) : firstList(text), rules);
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

/** The paths of the lists of objects in an object. */
function listsIn(value: Record<string, unknown>, depth = 0): string[][] {
  return Object.entries(value).flatMap(([name, member]) => {
    if (Array.isArray(member)) return member.some(isObject) ? [[name]] : [];
    if (!isObject(member) || depth === maxDepth) return [];
    return listsIn(member, depth + 1).map((path) => [name, ...path]);
  });
}

/** A list is looked for in the object, and in this many objects inside it. */
const maxDepth = 2;

/** The name in front of the first list of objects, in a text that is not whole. */
function firstList(text: string): string[][] {
  const [, name] = /"([^"\\]+)"\s*:\s*\[\s*\{/.exec(text) ?? [];
  return name === undefined ? [] : [[name]];
}

/** The most lists that a message names. */
const maxNamed = 3;

function oneObject(lists: readonly string[][], { advice, form }: ObjectRules): StartError {
  const names = lists
    .filter((path) => path.every((name) => name !== "" && !name.includes(".")))
    .map((path) => path.join("."))
    .slice(0, maxNamed);
  const whole = `To import the object as one resource, ${advice("at", ".")}.`;
  const [first] = names;
  return new StartError(
    first === undefined
      ? `The input is one JSON object, not ${form === "array" ? "a JSON array" : "one on each line"}. ${whole} To import a list inside it, name the list in place of the dot.`
      : `The input is one JSON object, with a list of objects in ${names.map(shortJson).join(", ")}. To import that list, ${advice("at", first)}. ${whole}`,
  );
}
