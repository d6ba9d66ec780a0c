/**
 * Update operators: a patch that says how values change, such as `{"views": {"$increment": 1}}`. The client does not have to
 * read the resource first, and two such patches at the same time both take effect.
 */
import { Problem } from "../errors.ts";
import { countNames, namesPerOperation, toFragment } from "../json/pointer.ts";
import { canonicalText, isObject, type JsonLimits, requireLimits, setMember } from "../json/values.ts";
import type { TypeAt } from "./attributes.ts";
import { shortJson } from "./messages.ts";
import { findOverlap, formatPath, type Path, parsePath } from "./paths.ts";
import { compareCodePoints } from "./text-comparison.ts";
import type { Arithmetic, DeclaredType } from "./types/declared-type.ts";
import { textNumbers } from "./types/declared-types.ts";

/** The operators, each with the operand that it takes. */
const operands = {
  $increment: "number",
  $min: "number",
  $max: "number",
  $append: "array",
  $addUnique: "array",
  $remove: "array",
  $set: "any",
  $unset: "true",
} as const;

/** The name of an operator. */
export type UpdateOperator = keyof typeof operands;

/** The names of all operators. */
export const updateOperators = Object.keys(operands) as readonly UpdateOperator[];

/** One operator on one attribute. */
export interface UpdateOperation {
  path: Path;
  operator: UpdateOperator;
  operand: unknown;
}

/** The limits of one update. */
export interface UpdateLimits {
  maxOperations: number;
  json: JsonLimits;
}

/** Reads an update. Throws INVALID_PATCH. */
export function parseUpdate(value: unknown, { maxOperations, json }: UpdateLimits): UpdateOperation[] {
  if (!isObject(value))
    throw new Problem("INVALID_PATCH", `An update must be a JSON object such as ${example}.`);
  const members = Object.entries(value);
  if (members.length > maxOperations) {
    throw new Problem(
      "INVALID_PATCH",
      `The update has ${members.length} operations, but the limit is ${maxOperations}.`,
    );
  }
  const count = countNames(Object.keys(value), ".");
  const maxNames = maxOperations * namesPerOperation;
  if (count > maxNames) {
    throw new Problem(
      "INVALID_PATCH",
      `The dotted names of the update have ${count} parts together, but the limit is ${maxNames}. Send several updates.`,
    );
  }
  const operations = members.map(([name, change]) => parseOperation(name, change, json.depth));
  requireSeparate(operations);
  return operations;
}

const example = '{"views":{"$increment":1}}';

function parseOperation(name: string, change: unknown, maxDepth: number): UpdateOperation {
  const path = parsePath(name);
  if (path === undefined || path.length > maxDepth) {
    const detail = `is not the name of an attribute. Names look like "title" or "author.name", with at most ${maxDepth} parts`;
    throw invalidUpdate([name], "attribute", detail);
  }
  const [operator = "", ...others] = isObject(change) ? Object.keys(change) : [];
  if (!isObject(change) || !operator.startsWith("$"))
    throw invalidUpdate([name], "operator", plainValue(change));
  if (!isOperator(operator)) {
    const detail = `is not an operator. The operators are ${updateOperators.join(", ")}`;
    throw invalidUpdate([name, operator], "operator", detail);
  }
  if (others.length > 0)
    throw invalidUpdate([name], "operator", `must have exactly one operator, but has ${others.length + 1}`);
  const operand = change[operator];
  const fault = operandFault(operator, operand);
  if (fault !== undefined) throw invalidUpdate([name, operator], "operand", fault);
  return { path, operator, operand };
}

function plainValue(change: unknown): string {
  const set = shortJson({ $set: change });
  return `must be an object with one operator, such as {"$increment":1}. To set this value, send ${set}`;
}

function isOperator(name: string): name is UpdateOperator {
  return Object.hasOwn(operands, name);
}

function operandFault(operator: UpdateOperator, operand: unknown): string | undefined {
  const not = () => `, not ${shortJson(operand)}`;
  switch (operands[operator]) {
    case "number":
      return typeof operand === "number" ||
        textNumbers.some(({ operandOf }) => operandOf(operand) !== undefined)
        ? undefined
        : `must be a number${not()}`;
    case "array":
      return Array.isArray(operand) ? undefined : `must be an array of items, such as ["x"]${not()}`;
    case "true":
      return operand === true ? undefined : `must be true${not()}`;
    case "any":
      return undefined;
  }
}

/** An operator in a merge patch, and the names that lead to it. */
export interface StrayOperator {
  names: readonly string[];
  operator: UpdateOperator;
}

/**
 * The first place where a merge patch would replace a value by an object whose only member is an operator that works on this
 * value. `undefined` if there is no such place. `outer`: the names of the objects around both arguments, the outermost first.
 */
export function strayOperatorIn(
  patch: Record<string, unknown>,
  stored: Record<string, unknown>,
  typeAt: TypeAt,
  outer: readonly string[] = [],
): StrayOperator | undefined {
  for (const [name, change] of Object.entries(patch)) {
    const value = Object.hasOwn(stored, name) ? stored[name] : undefined;
    if (!isObject(change) || value === undefined) continue;
    if (isObject(value)) {
      const inner = strayOperatorIn(change, value, typeAt, [...outer, name]);
      if (inner !== undefined) return inner;
      continue;
    }
    const [operator = "", ...others] = Object.keys(change);
    if (others.length > 0 || !isOperator(operator)) continue;
    const names = [...outer, name];
    const isNumber =
      typeof value === "number" ||
      (typeof value === "string" && typeAt(names as unknown as Path)?.arithmetic !== undefined);
    if (worksOn(operator, value, isNumber)) return { names, operator };
  }
  return undefined;
}

function worksOn(operator: UpdateOperator, value: unknown, isNumber: boolean): boolean {
  switch (operands[operator]) {
    case "number":
      return isNumber;
    case "array":
      return Array.isArray(value);
    case "true":
    case "any":
      return true;
  }
}

/** Refuses two paths if one contains the other, because the result would depend on the order of the operations. */
function requireSeparate(operations: readonly UpdateOperation[]): void {
  const overlap = findOverlap(operations.map(({ path }) => path));
  if (overlap === undefined) return;
  const detail = `overlaps ${JSON.stringify(formatPath(overlap.outer))}. Change only one of them`;
  throw invalidUpdate([formatPath(overlap.inner)], "overlap", detail);
}

/** How an update is applied. */
export interface UpdateContext {
  json: JsonLimits;
  typeAt: TypeAt;
  pause: Pause;
}

/** Gives other requests a turn after work on this many characters, if it is their turn. */
export type Pause = (characters: number) => Promise<void> | undefined;

/**
 * Applies an update to a document. Does not change the document or the operations, but the result can share parts with
 * them. Throws INVALID_PATCH if an operator does not fit the value that it finds, and BODY_TOO_DEEP.
 */
export async function applyUpdate(
  document: Record<string, unknown>,
  operations: readonly UpdateOperation[],
  { json, typeAt, pause }: UpdateContext,
): Promise<Record<string, unknown>> {
  const result = { ...document };
  const own = new Set<unknown>([result]); // the copies, which can be changed
  for (const operation of operations) {
    const parent = ownParent(result, operation, own);
    if (parent === undefined) continue;
    const name = operation.path.at(-1) as string;
    const current = Object.hasOwn(parent, name) ? parent[name] : undefined;
    if (operation.operator === "$unset") delete parent[name];
    else setMember(parent, name, await valueAfter(operation, current, { typeAt, pause }));
  }
  requireLimits(result, json);
  return result;
}

/** The object with the last name of the path; creates it unless the operation is `$unset`. */
function ownParent(
  result: Record<string, unknown>,
  operation: UpdateOperation,
  own: Set<unknown>,
): Record<string, unknown> | undefined {
  const { path, operator } = operation;
  let parent = result;
  for (const [level, name] of path.slice(0, -1).entries()) {
    const child = Object.hasOwn(parent, name) ? parent[name] : undefined;
    if (child === undefined && operator === "$unset") return undefined;
    if (child !== undefined && !isObject(child)) {
      const outer = formatPath(path.slice(0, level + 1) as unknown as Path);
      const advice = Array.isArray(child) ? " Dotted paths reach into objects, not arrays" : "";
      throw misfit(
        operation,
        `needs an object at ${JSON.stringify(outer)}, which is ${kindOf(child)}.${advice}`,
      );
    }
    if (child !== undefined && own.has(child)) {
      parent = child;
      continue;
    }
    const copy: Record<string, unknown> = { ...child }; // spread syntax keeps a member called __proto__ as data
    own.add(copy);
    setMember(parent, name, copy);
    parent = copy;
  }
  return parent;
}

function valueAfter(
  operation: UpdateOperation,
  current: unknown,
  { typeAt, pause }: Pick<UpdateContext, "typeAt" | "pause">,
): unknown {
  const { path, operator, operand } = operation;
  switch (operator) {
    case "$increment":
    case "$min":
    case "$max":
      return sumOrExtreme(operation, current, typeAt(path));
    case "$append":
      return [...arrayIn(operation, current), ...(operand as unknown[])];
    case "$addUnique":
      return withUnique(arrayIn(operation, current), operand as unknown[], pause);
    case "$remove":
      return without(arrayIn(operation, current), operand as unknown[], pause);
    case "$set":
    case "$unset":
      return operand;
  }
}

function sumOrExtreme(
  operation: UpdateOperation,
  current: unknown,
  type: DeclaredType | undefined,
): number | string {
  const arithmetic = type?.arithmetic;
  return type === undefined || arithmetic === undefined
    ? numberAfter(operation, current)
    : textNumberAfter(operation, current === undefined ? arithmetic.zero : current, { ...type, arithmetic });
}

function numberAfter(operation: UpdateOperation, current: unknown): number {
  const { operator, operand } = operation;
  if (typeof operand !== "number")
    throw misfit(operation, `must be a number, not ${shortJson(operand)}`, "operand");
  const value = numberIn(operation, current);
  if (operator === "$increment") return sumOf(operation, value, operand);
  return operator === "$min" ? Math.min(value, operand) : Math.max(value, operand);
}

/** A number that is a text. */
function textNumberAfter(
  operation: UpdateOperation,
  current: unknown,
  { what, keyOf, arithmetic }: DeclaredType & { arithmetic: Arithmetic },
): string {
  const { operator } = operation;
  const operand = arithmetic.operandOf(operation.operand);
  if (operand === undefined)
    throw misfit(operation, `must be ${arithmetic.expected}, not ${shortJson(operation.operand)}`, "operand");
  const key = keyOf(current);
  if (key === undefined) throw misfit(operation, `needs ${what}, but the value is ${kindOf(current)}`);
  const value = current as string;
  const order = compareCodePoints(keyOf(operand) as string, key);
  if (operator === "$min") return order < 0 ? operand : value;
  if (operator === "$max") return order > 0 ? operand : value;
  const sum = arithmetic.sum(value, operand);
  if (typeof sum === "string") return sum;
  throw misfit(operation, `would make ${sum.fault}`, "range");
}

function numberIn(operation: UpdateOperation, current: unknown = 0): number {
  if (typeof current === "number") return current;
  throw misfit(operation, `needs a number, but the value is ${kindOf(current)}`);
}

function arrayIn(operation: UpdateOperation, current: unknown = []): unknown[] {
  if (Array.isArray(current)) return current;
  throw misfit(operation, `needs an array, but the value is ${kindOf(current)}`);
}

/** Beyond the safe integers, doubles skip whole numbers, so a sum could silently be another number. */
function sumOf(operation: UpdateOperation, current: number, by: number): number {
  const sum = current + by;
  if (Math.abs(sum) > Number.MAX_SAFE_INTEGER) {
    const most = Number.MAX_SAFE_INTEGER;
    throw misfit(operation, `would make a number beyond ±${most}, which cannot be stored exactly`, "range");
  }
  if (by !== 0 && sum === current)
    throw misfit(operation, "would change nothing: the number is too small to be added exactly", "range");
  return sum;
}

async function withUnique(items: unknown[], more: readonly unknown[], pause: Pause): Promise<unknown[]> {
  const known = new Set<unknown>();
  const all = [...items];
  await eachKey(items, pause, (key) => known.add(key));
  await eachKey(more, pause, (key, item) => {
    const { size } = known;
    if (known.add(key).size > size) all.push(item);
  });
  return all;
}

async function without(items: unknown[], removed: readonly unknown[], pause: Pause): Promise<unknown[]> {
  const known = new Set<unknown>();
  const kept: unknown[] = [];
  await eachKey(removed, pause, (key) => known.add(key));
  await eachKey(items, pause, (key, item) => {
    if (!known.has(key)) kept.push(item);
  });
  return kept;
}

/** A scalar takes as much time as this many characters of text. */
const scalarLength = 8;

/** Passes each item with its key. Equal items have equal keys. No JSON string of a resource contains the null character. */
async function eachKey(
  items: readonly unknown[],
  pause: Pause,
  take: (key: unknown, item: unknown) => void,
): Promise<void> {
  for (const item of items) {
    const text = typeof item === "object" && item !== null ? `\0${canonicalText(item)}` : undefined;
    take(text ?? item, item);
    const paused = pause(text?.length ?? scalarLength);
    if (paused !== undefined) await paused;
  }
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return isObject(value) ? "an object" : `a ${typeof value}`;
}

/** An operation does not fit the value that the resource has. */
function misfit({ path, operator }: UpdateOperation, detail: string, code = "type"): Problem {
  return invalidUpdate([formatPath(path), operator], code, detail);
}

/** `place` is a path in the update: the attribute, and the operator. */
function invalidUpdate(place: readonly [string, string?], code: string, detail: string): Problem {
  const [name, operator] = place;
  const pointer = toFragment(operator === undefined ? [name] : [name, operator]);
  const subject = operator === undefined ? shortJson(name) : `${operator} of ${shortJson(name)}`;
  return new Problem("INVALID_PATCH", `The update is invalid: ${subject} ${detail}.`, {
    violations: [{ in: "body", pointer, code, detail }],
  });
}
