/**
 * Applies a JSON Patch (RFC 6902). This is our own code, because the usual packages fail cases of the public test suite,
 * and none refuses a patch that doubles the document with each `copy`.
 */
import { Problem } from "../errors.ts";
import { LongArray } from "./long-array.ts";
import { invalidPatch, type PatchOperation, parseOperations, subjectOf } from "./patch-operations.ts";
import { toFragment } from "./pointer.ts";
import { beyondLimits, isObject, type JsonLimits, requireLimits, setMember } from "./values.ts";

/** The limits of one patch. */
export interface PatchLimits {
  maxOperations: number;
  /**
   * Bytes of JSON that all `copy` operations together can add. The result is at most this much larger than the document
   * and the patch together. The calling code limits the size of the result itself.
   */
  maxBytes: number;
  json: JsonLimits;
}

/**
 * Applies a patch to a document. Does not change the document or the patch, but the result can share parts with them.
 * Throws INVALID_PATCH for a malformed patch, PATCH_CONFLICT if a `test` fails or a path does not exist,
 * CONTENT_TOO_LARGE and BODY_TOO_DEEP.
 */
export function applyJsonPatch(document: unknown, patch: unknown, limits: PatchLimits): unknown {
  const operations = parseOperations(patch, limits.maxOperations);
  const patcher = new Patcher(document, operations.length, limits);
  for (const operation of operations) patcher.apply(operation);
  const result = patcher.finish();
  requireLimits(result, limits.json);
  return result;
}

/** The most items that one patch moves in plain arrays. An array for which it could be more becomes a `LongArray`. */
const maxMovedItems = 5_000_000;

type Container = Record<string, unknown> | unknown[];

/**
 * Applies operations to a document. Copies an object or array before the first write to it, and no other. Follows paths
 * in loops and limits the depth of copies, so a deep document does not overflow the stack.
 */
class Patcher {
  #document: unknown;
  readonly #limits: PatchLimits;
  readonly #longLength: number;
  /** Objects and arrays that were created here and occur once in the document, so they can be changed. */
  readonly #own = new Set<unknown>();
  /** The items of long arrays. The arrays in the document get them in `finish`. */
  readonly #long = new Map<unknown[], LongArray>();
  #copiedBytes = 0;

  constructor(document: unknown, operations: number, limits: PatchLimits) {
    this.#document = document;
    this.#limits = limits;
    this.#longLength = maxMovedItems / operations;
  }

  apply(operation: PatchOperation): void {
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

  #test(operation: PatchOperation): void {
    if (this.#isEqual(this.#get(operation, operation.path, "path"), operation.value)) return;
    throw conflict(
      [operation.index, "path"],
      'points to a value that differs from the "value" of the test',
      "test",
    );
  }

  #move(operation: PatchOperation): void {
    const { from, path, index } = operation;
    const isInto = from.length < path.length && from.every((segment, level) => segment === path[level]);
    if (isInto) throw invalidPatch([index, "path"], 'is inside "from": a value cannot be moved into itself');
    const moved = this.#remove(operation, from, "from");
    this.#add(operation, moved);
  }

  #add(operation: PatchOperation, value: unknown): void {
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
    if (index > length) throw missingTarget(operation, "path");
    const long = this.#longOf(parent);
    if (long === undefined) parent.splice(index, 0, value);
    else long.insert(index, value);
  }

  #replace(operation: PatchOperation, value: unknown): void {
    const last = operation.path.at(-1);
    if (last === undefined) {
      this.#document = value;
      return;
    }
    const parent = this.#ownParent(operation, operation.path, "path");
    this.#childOf(operation, parent, last, "path");
    this.#put(parent, last, value);
  }

  #remove(operation: PatchOperation, segments: readonly string[], member: "path" | "from"): unknown {
    const last = segments.at(-1);
    if (last === undefined) {
      const removed = this.#document;
      this.#document = null;
      return removed;
    }
    const parent = this.#ownParent(operation, segments, member);
    const removed = this.#childOf(operation, parent, last, member);
    if (!Array.isArray(parent)) delete parent[last];
    else {
      const long = this.#longOf(parent);
      if (long === undefined) parent.splice(Number(last), 1);
      else long.remove(Number(last));
    }
    return removed;
  }

  #get(operation: PatchOperation, segments: readonly string[], member: "path" | "from"): unknown {
    let value = this.#document;
    for (const segment of segments) value = this.#childOf(operation, value, segment, member);
    return value;
  }

  #childOf(operation: PatchOperation, parent: unknown, segment: string, member: "path" | "from"): unknown {
    if (Array.isArray(parent)) {
      const items = this.#items(parent);
      const index = arrayIndex(operation, segment, member);
      if (index < items.length) return items.at(index);
    } else if (isObject(parent) && Object.hasOwn(parent, segment)) return parent[segment];
    throw missingTarget(operation, member);
  }

  /** The container of the last segment. Copies it and every container above it, unless they are copies already. */
  #ownParent(operation: PatchOperation, segments: readonly string[], member: "path" | "from"): Container {
    let parent = this.#ownOf(operation, this.#document, member);
    this.#document = parent;
    for (let level = 0; level < segments.length - 1; level++) {
      const segment = segments[level] ?? "";
      const child = this.#childOf(operation, parent, segment, member);
      const own = this.#ownOf(operation, child, member);
      if (own !== child) this.#put(parent, segment, own);
      parent = own;
    }
    return parent;
  }

  #ownOf(operation: PatchOperation, value: unknown, member: "path" | "from"): Container {
    if (!Array.isArray(value) && !isObject(value)) throw missingTarget(operation, member);
    if (this.#own.has(value)) return value;
    // Spread syntax defines members and does not assign them, so an own member called __proto__ stays data.
    const own = Array.isArray(value) ? value.slice() : { ...value };
    this.#own.add(own);
    return own;
  }

  /** Replaces an existing member or item of a container that can be changed. */
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

  /** The array as a `LongArray`; `undefined` if it is short. */
  #longOf(array: unknown[]): LongArray | undefined {
    const known = this.#long.get(array);
    if (known !== undefined || array.length <= this.#longLength) return known;
    const long = new LongArray(array);
    this.#long.set(array, long);
    return long;
  }

  /** A deep copy, because a later operation can change one of the two. Counts its bytes. */
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

  /** Counts the fewest bytes that a part can have as JSON, so that no patch within the limit is refused. */
  #charge(bytes: number): void {
    this.#copiedBytes += bytes;
    if (this.#copiedBytes > this.#limits.maxBytes) {
      throw new Problem(
        "CONTENT_TOO_LARGE",
        `The patch copies more than the limit of ${this.#limits.maxBytes} bytes.`,
      );
    }
  }

  /** Whether two JSON values are equal. The order of members does not matter (RFC 6902 §4.6). */
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

/** An array index. Refuses `-`, the index after the last item, because only `add` allows it. */
function arrayIndex({ index }: PatchOperation, segment: string, member: "path" | "from"): number {
  if (/^(?:0|[1-9][0-9]*)$/.test(segment)) return Number(segment);
  throw invalidPatch([index, member], `must have an array index instead of "${segment}"`);
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

function missingTarget({ index }: PatchOperation, member: "path" | "from"): Problem {
  return conflict([index, member], "points to a place that does not exist", "missing");
}
