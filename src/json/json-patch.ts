/**
 * JSON Patch (RFC 6902). Our own, because the usual packages fail cases of the public suite, and none is safe
 * from a patch that doubles the document with each `copy`.
 */
import { Problem } from "../errors.ts";
import { beyondLimits, isObject, type JsonLimits, requireLimits } from "./gate.ts";
import { cloneJson, setMember } from "./members.ts";
import { parsePointer, toFragment } from "./pointer.ts";

/**
 * Items of arrays that all operations together may shift: each insertion into a long array moves what stands behind
 * it, and a thousand of them into half a million would hold the service up.
 */
const maxShiftedItems = 50_000_000;

/** What one patch may cost. */
export interface PatchLimits {
  maxOperations: number;
  /** Bytes of JSON that all `copy` operations together may copy, about. */
  maxBytes: number;
  json: JsonLimits;
}

/** One operation, checked but for what only the document can show. */
interface Operation {
  /** Its place in the patch. */
  index: number;
  op: "add" | "remove" | "replace" | "move" | "copy" | "test";
  path: string[];
  from: string[];
  value: unknown;
}

/**
 * The value that a patch makes of a document, which stays as it is. Throws INVALID_PATCH for a malformed patch,
 * PATCH_CONFLICT when a `test` fails or a place is not there, CONTENT_TOO_LARGE and BODY_TOO_DEEP.
 */
export function applyJsonPatch(document: unknown, patch: unknown, limits: PatchLimits): unknown {
  const operations = parseOperations(patch, limits.maxOperations);
  const patcher = new Patcher(cloneJson(document), limits);
  for (const operation of operations) patcher.apply(operation);
  requireLimits(patcher.document, limits.json);
  return patcher.document;
}

function parseOperations(patch: unknown, maxOperations: number): Operation[] {
  if (!Array.isArray(patch)) {
    throw new Problem(
      "INVALID_PATCH",
      "A JSON Patch is an array of operations. For a merge patch send Content-Type: application/merge-patch+json.",
    );
  }
  if (patch.length > maxOperations) {
    throw new Problem(
      "INVALID_PATCH",
      `The patch has ${patch.length} operations, and may have ${maxOperations}.`,
    );
  }
  return patch.map(parseOperation);
}

/** Each operation, and the members that it needs. */
const needs = {
  add: ["value"],
  remove: [],
  replace: ["value"],
  move: ["from"],
  copy: ["from"],
  test: ["value"],
} as const satisfies Record<Operation["op"], readonly ("value" | "from")[]>;

function parseOperation(item: unknown, index: number): Operation {
  if (!isObject(item)) throw invalid([index], "is not an object");
  const op = ownMember(item, "op");
  if (typeof op !== "string" || !Object.hasOwn(needs, op)) {
    throw invalid([index, "op"], `must be one of ${Object.keys(needs).join(", ")}`);
  }
  const known = op as Operation["op"];
  const members: readonly string[] = needs[known];
  if (members.includes("value") && !Object.hasOwn(item, "value"))
    throw invalid([index, "value"], "is missing");
  return {
    index,
    op: known,
    path: pointerMember(item, index, "path"),
    from: members.includes("from") ? pointerMember(item, index, "from") : [],
    value: ownMember(item, "value"),
  };
}

function ownMember(item: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(item, name) ? item[name] : undefined;
}

function pointerMember(item: Record<string, unknown>, index: number, name: "path" | "from"): string[] {
  const text = ownMember(item, name);
  const segments = typeof text === "string" ? parsePointer(text) : undefined;
  if (segments === undefined) {
    throw invalid([index, name], 'must be a JSON Pointer: empty, or "/" before each segment');
  }
  return segments;
}

/** A document under change. Paths are followed by loops and copies are bounded, so depth never becomes recursion. */
class Patcher {
  document: unknown;
  readonly #limits: PatchLimits;
  #copiedBytes = 0;
  #shiftedItems = 0;

  constructor(document: unknown, limits: PatchLimits) {
    this.document = document;
    this.#limits = limits;
  }

  apply(operation: Operation): void {
    const { op, path, from, value } = operation;
    if (op === "add") this.#add(operation, this.#copyOf(value));
    else if (op === "remove") this.#remove(operation, path, "path");
    else if (op === "replace") this.#replace(operation, this.#copyOf(value));
    else if (op === "move") this.#move(operation);
    else if (op === "copy") this.#add(operation, this.#copyOf(this.#get(operation, from, "from")));
    else this.#test(operation);
  }

  #test(operation: Operation): void {
    if (isEqual(this.#get(operation, operation.path, "path"), operation.value)) return;
    throw conflict([operation.index, "path"], "holds another value than the one that is tested for", "test");
  }

  #move(operation: Operation): void {
    const { from, path, index } = operation;
    const isInto = from.length < path.length && from.every((segment, level) => segment === path[level]);
    if (isInto) throw invalid([index, "path"], "lies inside of what is moved");
    const moved = this.#remove(operation, from, "from");
    this.#add(operation, moved);
  }

  #get(operation: Operation, segments: readonly string[], member: "path" | "from"): unknown {
    let value = this.document;
    for (const segment of segments) value = this.#child(operation, value, segment, member);
    return value;
  }

  #child(operation: Operation, parent: unknown, segment: string, member: "path" | "from"): unknown {
    if (Array.isArray(parent)) {
      const index = arrayIndex(operation, segment, member);
      if (index !== undefined && index < parent.length) return parent[index];
    } else if (isObject(parent) && Object.hasOwn(parent, segment)) return parent[segment];
    throw notThere(operation, member);
  }

  #add(operation: Operation, value: unknown): void {
    const { path } = operation;
    const last = path.at(-1);
    if (last === undefined) {
      this.document = value;
      return;
    }
    const parent = this.#get(operation, path.slice(0, -1), "path");
    if (isObject(parent)) setMember(parent, last, value);
    else if (Array.isArray(parent)) {
      const index = last === "-" ? parent.length : arrayIndex(operation, last, "path");
      if (index === undefined || index > parent.length) throw notThere(operation, "path");
      this.#splice(parent, index, [value]);
    } else throw notThere(operation, "path");
  }

  #replace(operation: Operation, value: unknown): void {
    this.#get(operation, operation.path, "path");
    const last = operation.path.at(-1);
    if (last === undefined) {
      this.document = value;
      return;
    }
    const parent = this.#get(operation, operation.path.slice(0, -1), "path");
    if (Array.isArray(parent)) parent[Number(last)] = value;
    else setMember(parent as Record<string, unknown>, last, value);
  }

  #remove(operation: Operation, segments: readonly string[], member: "path" | "from"): unknown {
    const removed = this.#get(operation, segments, member);
    const last = segments.at(-1);
    if (last === undefined) {
      this.document = null;
      return removed;
    }
    const parent = this.#get(operation, segments.slice(0, -1), member);
    if (Array.isArray(parent)) this.#splice(parent, Number(last), []);
    else delete (parent as Record<string, unknown>)[last];
    return removed;
  }

  /** Inserts the one item, or removes one where there is none to insert. */
  #splice(array: unknown[], index: number, inserted: [] | [unknown]): void {
    this.#shiftedItems += array.length - index;
    if (this.#shiftedItems > maxShiftedItems) throw tooMuchWork();
    array.splice(index, 1 - inserted.length, ...inserted);
  }

  /** A copy, so that no two places of the document are one object. All copies together are bounded. */
  #copyOf(value: unknown, depth = 0): unknown {
    if (depth > this.#limits.json.depth) throw beyondLimits(this.#limits.json);
    this.#copiedBytes += typeof value === "string" ? value.length + 2 : 4;
    if (this.#copiedBytes > this.#limits.maxBytes) throw tooLarge(this.#limits.maxBytes);
    if (Array.isArray(value)) return value.map((item) => this.#copyOf(item, depth + 1));
    if (!isObject(value)) return value;
    const copy: Record<string, unknown> = {};
    for (const name of Object.keys(value)) {
      this.#copiedBytes += name.length + 4;
      setMember(copy, name, this.#copyOf(value[name], depth + 1));
    }
    return copy;
  }
}

/** An index into an array; `undefined` for `-`, which is the place after the last one. */
function arrayIndex({ index }: Operation, segment: string, member: "path" | "from"): number | undefined {
  if (segment === "-") return undefined;
  if (/^(?:0|[1-9][0-9]*)$/.test(segment)) return Number(segment);
  throw invalid([index, member], `needs an array index and has "${segment}"`);
}

/** Equal as JSON values: numbers by value, objects whatever the order of their members (RFC 6902 §4.6). */
function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => isEqual(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && isEqual(a[name], b[name]));
}

function invalid(place: (string | number)[], detail: string): Problem {
  const pointer = toFragment(place);
  return new Problem("INVALID_PATCH", `The patch is malformed: ${pointer} ${detail}.`, {
    violations: [{ in: "body", pointer, code: "patch", detail }],
  });
}

function conflict(place: (string | number)[], detail: string, code: string): Problem {
  const pointer = toFragment(place);
  return new Problem("PATCH_CONFLICT", `The patch does not fit the resource: ${pointer} ${detail}.`, {
    violations: [{ in: "body", pointer, code, detail }],
  });
}

function notThere({ index }: Operation, member: "path" | "from"): Problem {
  return conflict([index, member], "names a place that is not there", "missing");
}

function tooLarge(maxBytes: number): Problem {
  return new Problem("CONTENT_TOO_LARGE", `The patch copies more than ${maxBytes} bytes.`);
}

function tooMuchWork(): Problem {
  return new Problem(
    "INVALID_PATCH",
    "The patch shifts too many items of long arrays. Replace the array instead.",
  );
}
