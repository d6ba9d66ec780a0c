/**
 * JSON Patch (RFC 6902). Our own, because the usual packages fail cases of the public suite, and none is safe
 * from a patch that doubles the document with each `copy`.
 */
import { Problem } from "../errors.ts";
import { isObject, requireLimits } from "./gate.ts";
import { beyondLimits, type JsonLimits } from "./limits.ts";
import { LongArray } from "./long-array.ts";
import { setMember } from "./members.ts";
import { invalid, type Operation, parseOperations, subjectOf } from "./patch-operations.ts";
import { toFragment } from "./pointer.ts";

/** What one patch may cost. */
export interface PatchLimits {
  maxOperations: number;
  /**
   * Bytes of JSON that all `copy` operations together may make, at least. So the result is at most this much larger
   * than the document and the patch; how large it may be in itself is for the caller to say.
   */
  maxBytes: number;
  json: JsonLimits;
}

/**
 * The value that a patch makes of a document. Document and patch stay as they are, and the value may share parts
 * with them. Throws INVALID_PATCH for a malformed patch, PATCH_CONFLICT when a `test` fails or a place is not
 * there, CONTENT_TOO_LARGE and BODY_TOO_DEEP.
 */
export function applyJsonPatch(document: unknown, patch: unknown, limits: PatchLimits): unknown {
  const operations = parseOperations(patch, limits.maxOperations);
  const patcher = new Patcher(document, operations.length, limits);
  for (const operation of operations) patcher.apply(operation);
  const result = patcher.finish();
  requireLimits(result, limits.json);
  return result;
}

/** Items that all inserts and removals of a patch may move before an array is better kept in pieces. */
const maxMovedItems = 5_000_000;

type Container = Record<string, unknown> | unknown[];

/**
 * A document under change. An object or array is copied when it is first written to, so what nobody touches costs
 * nothing. Paths are followed by loops and copies are bounded, so depth never becomes recursion.
 */
class Patcher {
  #document: unknown;
  readonly #limits: PatchLimits;
  readonly #longLength: number;
  /** What was made here and stands in one place only: it may be written to. */
  readonly #own = new Set<unknown>();
  /** Own arrays whose items are in pieces until the end. */
  readonly #long = new Map<unknown[], LongArray>();
  #copiedBytes = 0;

  constructor(document: unknown, operations: number, limits: PatchLimits) {
    this.#document = document;
    this.#limits = limits;
    this.#longLength = maxMovedItems / operations;
  }

  apply(operation: Operation): void {
    const { op, path, from, value } = operation;
    if (op === "add") this.#add(operation, value);
    else if (op === "remove") this.#remove(operation, path, "path");
    else if (op === "replace") this.#replace(operation, value);
    else if (op === "move") this.#move(operation);
    else if (op === "copy") this.#add(operation, this.#copyOf(this.#get(operation, from, "from"), 0));
    else this.#test(operation);
  }

  finish(): unknown {
    for (const [array, items] of this.#long) items.writeTo(array);
    return this.#document;
  }

  #test(operation: Operation): void {
    if (this.#isEqual(this.#get(operation, operation.path, "path"), operation.value)) return;
    throw conflict(
      [operation.index, "path"],
      'points to a value that differs from the "value" of the test',
      "test",
    );
  }

  #move(operation: Operation): void {
    const { from, path, index } = operation;
    const isInto = from.length < path.length && from.every((segment, level) => segment === path[level]);
    if (isInto) throw invalid([index, "path"], 'is inside "from": a value cannot be moved into itself');
    const moved = this.#remove(operation, from, "from");
    this.#add(operation, moved);
  }

  #add(operation: Operation, value: unknown): void {
    const last = operation.path.at(-1);
    if (last === undefined) {
      this.#document = value;
      return;
    }
    const parent = this.#ownParent(operation, operation.path, "path");
    if (!Array.isArray(parent)) {
      setMember(parent, last, value);
      return;
    }
    const { length } = this.#items(parent);
    const index = last === "-" ? length : arrayIndex(operation, last, "path");
    if (index > length) throw notThere(operation, "path");
    const long = this.#longOf(parent);
    if (long === undefined) parent.splice(index, 0, value);
    else long.insert(index, value);
  }

  #replace(operation: Operation, value: unknown): void {
    const last = operation.path.at(-1);
    if (last === undefined) {
      this.#document = value;
      return;
    }
    const parent = this.#ownParent(operation, operation.path, "path");
    this.#child(operation, parent, last, "path");
    this.#put(parent, last, value);
  }

  #remove(operation: Operation, segments: readonly string[], member: "path" | "from"): unknown {
    const last = segments.at(-1);
    if (last === undefined) {
      const removed = this.#document;
      this.#document = null;
      return removed;
    }
    const parent = this.#ownParent(operation, segments, member);
    const removed = this.#child(operation, parent, last, member);
    if (!Array.isArray(parent)) delete parent[last];
    else {
      const long = this.#longOf(parent);
      if (long === undefined) parent.splice(Number(last), 1);
      else long.remove(Number(last));
    }
    return removed;
  }

  #get(operation: Operation, segments: readonly string[], member: "path" | "from"): unknown {
    let value = this.#document;
    for (const segment of segments) value = this.#child(operation, value, segment, member);
    return value;
  }

  #child(operation: Operation, parent: unknown, segment: string, member: "path" | "from"): unknown {
    if (Array.isArray(parent)) {
      const items = this.#items(parent);
      const index = arrayIndex(operation, segment, member);
      if (index < items.length) return items.at(index);
    } else if (isObject(parent) && Object.hasOwn(parent, segment)) return parent[segment];
    throw notThere(operation, member);
  }

  /** What holds the place that a path leads to, made our own with all that is above it. */
  #ownParent(operation: Operation, segments: readonly string[], member: "path" | "from"): Container {
    let parent = this.#ownOf(operation, this.#document, member);
    this.#document = parent;
    for (let level = 0; level < segments.length - 1; level++) {
      const segment = segments[level] ?? "";
      const child = this.#child(operation, parent, segment, member);
      const own = this.#ownOf(operation, child, member);
      if (own !== child) this.#put(parent, segment, own);
      parent = own;
    }
    return parent;
  }

  #ownOf(operation: Operation, value: unknown, member: "path" | "from"): Container {
    if (!Array.isArray(value) && !isObject(value)) throw notThere(operation, member);
    if (this.#own.has(value)) return value;
    // Spreading defines, it does not assign: an own member called __proto__ stays plain data.
    const own = Array.isArray(value) ? value.slice() : { ...value };
    this.#own.add(own);
    return own;
  }

  /** Sets a place that is there, in something that is our own. */
  #put(parent: Container, segment: string, value: unknown): void {
    if (!Array.isArray(parent)) setMember(parent, segment, value);
    else {
      const long = this.#long.get(parent);
      if (long === undefined) parent[Number(segment)] = value;
      else long.set(Number(segment), value);
    }
  }

  #items(array: unknown[]): unknown[] | LongArray {
    return this.#long.get(array) ?? array;
  }

  /** The pieces of an array of our own; `undefined` when it is short enough to do without. */
  #longOf(array: unknown[]): LongArray | undefined {
    const known = this.#long.get(array);
    if (known !== undefined || array.length <= this.#longLength) return known;
    const long = new LongArray(array);
    this.#long.set(array, long);
    return long;
  }

  /** A copy, since what stands in two places cannot be written to in one. All copies together are bounded. */
  #copyOf(value: unknown, depth: number): unknown {
    if (depth > this.#limits.json.depth) throw beyondLimits(this.#limits.json);
    if (Array.isArray(value)) {
      this.#charge(3);
      const items = plain(this.#items(value));
      return items.map((item) => this.#copyOf(item, depth + 1));
    }
    if (!isObject(value)) {
      this.#charge(typeof value === "string" ? value.length + 3 : 2);
      return value;
    }
    this.#charge(3);
    const copy: Record<string, unknown> = {};
    for (const name of Object.keys(value)) {
      this.#charge(name.length + 3);
      setMember(copy, name, this.#copyOf(value[name], depth + 1));
    }
    return copy;
  }

  /** Counts the least that something can take as JSON, so that nothing is refused that has room. */
  #charge(bytes: number): void {
    this.#copiedBytes += bytes;
    if (this.#copiedBytes > this.#limits.maxBytes) {
      throw new Problem(
        "CONTENT_TOO_LARGE",
        `The patch copies more than the limit of ${this.#limits.maxBytes} bytes.`,
      );
    }
  }

  /** Equal as JSON values: numbers by value, objects whatever the order of their members (RFC 6902 §4.6). */
  #isEqual(here: unknown, tested: unknown): boolean {
    if (here === tested) return true;
    if (Array.isArray(here)) {
      const items = this.#items(here);
      if (!Array.isArray(tested) || items.length !== tested.length) return false;
      return plain(items).every((item, index) => this.#isEqual(item, tested[index]));
    }
    if (!isObject(here) || !isObject(tested)) return false;
    const names = Object.keys(here);
    if (names.length !== Object.keys(tested).length) return false;
    return names.every((name) => Object.hasOwn(tested, name) && this.#isEqual(here[name], tested[name]));
  }
}

function plain(items: unknown[] | LongArray): unknown[] {
  if (Array.isArray(items)) return items;
  const array: unknown[] = [];
  items.writeTo(array);
  return array;
}

/** An index into an array. `-`, the place after the last item, is for `add` alone. */
function arrayIndex({ index }: Operation, segment: string, member: "path" | "from"): number {
  if (/^(?:0|[1-9][0-9]*)$/.test(segment)) return Number(segment);
  throw invalid([index, member], `must have an array index instead of "${segment}"`);
}

function conflict(place: (string | number)[], detail: string, code: string): Problem {
  const pointer = toFragment(place);
  return new Problem(
    "PATCH_CONFLICT",
    `The patch does not fit the resource: ${subjectOf(place)} ${detail}.`,
    {
      violations: [{ in: "body", pointer, code, detail }],
    },
  );
}

function notThere({ index }: Operation, member: "path" | "from"): Problem {
  return conflict([index, member], "points to a place that does not exist", "missing");
}
