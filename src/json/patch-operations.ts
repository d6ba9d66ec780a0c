/** Reads the operations of a JSON Patch (RFC 6902), and checks what it can without the document. */
import { Problem } from "../errors.ts";
import { countNames, namesPerOperation, parsePointer, toFragment } from "./pointer.ts";
import { isObject } from "./values.ts";

/** One operation. Whether its paths exist depends on the document. */
export interface PatchOperation {
  /** Its index in the patch. */
  index: number;
  op: "add" | "remove" | "replace" | "move" | "copy" | "test";
  path: string[];
  from: string[];
  value: unknown;
}

/** Reads a patch. Throws INVALID_PATCH. */
export function parseOperations(patch: unknown, maxOperations: number): PatchOperation[] {
  if (!Array.isArray(patch)) {
    throw new Problem(
      "INVALID_PATCH",
      "A JSON Patch must be an array of operations. For a merge patch, send Content-Type: application/merge-patch+json.",
    );
  }
  if (patch.length > maxOperations) {
    throw new Problem(
      "INVALID_PATCH",
      `The patch has ${patch.length} operations, but the limit is ${maxOperations}.`,
    );
  }
  const names = countNames(patch.flatMap(pointersOf), "/");
  const maxNames = maxOperations * namesPerOperation;
  if (names > maxNames) {
    throw new Problem(
      "INVALID_PATCH",
      `The pointers of the patch have ${names} names together, but the limit is ${maxNames}. Send several patches.`,
    );
  }
  return patch.map(parseOperation);
}

function pointersOf(item: unknown): string[] {
  return isObject(item) ? [item.path, item.from].filter((each) => typeof each === "string") : [];
}

/** The members that each operation requires beside `path`. */
const requiredMembers = {
  add: ["value"],
  remove: [],
  replace: ["value"],
  move: ["from"],
  copy: ["from"],
  test: ["value"],
} as const satisfies Record<PatchOperation["op"], readonly ("value" | "from")[]>;

/** The names of all operations. */
export const patchOperationNames = Object.keys(requiredMembers);

function parseOperation(item: unknown, index: number): PatchOperation {
  if (!isObject(item)) throw invalidPatch([index], "must be an object");
  const op = ownMember(item, "op");
  if (typeof op !== "string" || !Object.hasOwn(requiredMembers, op)) {
    throw invalidPatch([index, "op"], `must be one of ${patchOperationNames.join(", ")}`);
  }
  const known = op as PatchOperation["op"];
  const members: readonly string[] = requiredMembers[known];
  if (members.includes("value") && !Object.hasOwn(item, "value"))
    throw invalidPatch([index, "value"], "is missing");
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
    throw invalidPatch(
      [index, name],
      'must be a JSON Pointer such as "/title", or "" for the whole resource',
    );
  }
  return segments;
}

/** A path in a patch as the subject of a sentence: `the "path" of operation 0`. */
export function subjectOf([index, member]: readonly (string | number)[]): string {
  return member === undefined ? `operation ${index}` : `the "${member}" of operation ${index}`;
}

/** The problem of a malformed patch. `place` is a path in the patch. */
export function invalidPatch(place: (string | number)[], detail: string): Problem {
  const pointer = toFragment(place);
  return new Problem("INVALID_PATCH", `The patch is invalid: ${subjectOf(place)} ${detail}.`, {
    violations: [{ in: "body", pointer, code: "patch", detail }],
  });
}
