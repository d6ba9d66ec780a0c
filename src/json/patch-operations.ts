/** The operations of a JSON Patch (RFC 6902), read and checked as far as that goes without the document. */
import { Problem } from "../errors.ts";
import { isObject } from "./gate.ts";
import { parsePointer, toFragment } from "./pointer.ts";

/** One operation, checked but for what only the document can show. */
export interface Operation {
  /** Its place in the patch. */
  index: number;
  op: "add" | "remove" | "replace" | "move" | "copy" | "test";
  path: string[];
  from: string[];
  value: unknown;
}

/** Reads a patch. Throws INVALID_PATCH. */
export function parseOperations(patch: unknown, maxOperations: number): Operation[] {
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

/** The names of all operations. */
export const patchOperationNames = Object.keys(needs);

function parseOperation(item: unknown, index: number): Operation {
  if (!isObject(item)) throw invalid([index], "must be an object");
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
    throw invalid([index, name], 'must be a JSON Pointer such as "/title", or "" for the whole resource');
  }
  return segments;
}

/** A place in a patch as the subject of a sentence: `the "path" of operation 0`. */
export function subjectOf([index, member]: readonly (string | number)[]): string {
  return member === undefined ? `operation ${index}` : `the "${member}" of operation ${index}`;
}

/** The problem of a malformed patch. The place leads into the patch. */
export function invalid(place: (string | number)[], detail: string): Problem {
  const pointer = toFragment(place);
  return new Problem("INVALID_PATCH", `The patch is invalid: ${subjectOf(place)} ${detail}.`, {
    violations: [{ in: "body", pointer, code: "patch", detail }],
  });
}
