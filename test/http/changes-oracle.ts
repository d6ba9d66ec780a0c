/** A reading in memory of what updates, patches and bulk changes do: short, and independent of the service's code. */

/** The attributes of a resource. */
export type Attributes = Record<string, unknown>;

/** An update: one operator for each path. */
export type Update = Record<string, Record<string, unknown>>;

/** The resource after the update; `undefined` if the update is refused. */
export function updated(before: Attributes, update: Update): Attributes | undefined {
  const paths = Object.keys(update);
  if (paths.some((path) => paths.some((other) => other.startsWith(`${path}.`)))) return undefined;
  const after = structuredClone(before);
  for (const [path, change] of Object.entries(update)) {
    const operators = Object.entries(change);
    if (operators.length !== 1) return undefined;
    const [operator, operand] = operators[0] as [string, unknown];
    if (!apply(after, path.split("."), operator, operand)) return undefined;
  }
  return after;
}

function apply(object: Attributes, path: readonly string[], operator: string, operand: unknown): boolean {
  if (operator === "$unset" && operand !== true) return false;
  const [name = "", ...rest] = path;
  if (rest.length > 0) {
    if (object[name] === undefined) {
      if (operator === "$unset") return true;
      object[name] = {};
    }
    return isObject(object[name]) && apply(object[name], rest, operator, operand);
  }
  const now = object[name];
  if (operator === "$unset") {
    delete object[name];
    return true;
  }
  const next = valueAfter(now, operator, operand);
  if (next === undefined) return false;
  object[name] = next;
  return true;
}

function valueAfter(now: unknown, operator: string, operand: unknown): unknown {
  if (operator === "$set") return operand;
  if (["$increment", "$min", "$max"].includes(operator)) {
    const current = now ?? (now === undefined ? 0 : null);
    if (typeof current !== "number" || typeof operand !== "number") return undefined;
    if (operator === "$min") return operand < current ? operand : current;
    if (operator === "$max") return operand > current ? operand : current;
    const sum = current + operand;
    const isExact = sum >= -9007199254740991 && sum <= 9007199254740991;
    return isExact && (operand === 0 || sum !== current) ? sum : undefined;
  }
  const items = now === undefined ? [] : now;
  if (!Array.isArray(items) || !Array.isArray(operand)) return undefined;
  if (operator === "$append") return items.concat(operand);
  if (operator === "$remove") return items.filter((item) => !operand.some((each) => isSame(item, each)));
  if (operator !== "$addUnique") return undefined;
  const all: unknown[] = [...items];
  for (const each of operand) if (!all.some((item) => isSame(item, each))) all.push(each);
  return all;
}

/** The value after a merge patch. */
export function merged(before: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const after: Attributes = isObject(before) ? { ...before } : {};
  for (const [name, change] of Object.entries(patch)) {
    if (change === null) delete after[name];
    else after[name] = merged(after[name], change);
  }
  return after;
}

/** A filter of a request, and the same filter as a function. */
export interface Filter {
  json: Record<string, unknown>;
  matches: (id: string, attributes: Attributes) => boolean;
}

/** The value at a dotted path. */
export function valueAt(attributes: unknown, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), attributes);
}

function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, n) => isSame(item, other[n]));
  if (!isObject(one) || !isObject(other)) return one === other;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => name in other && isSame(one[name], other[name]))
  );
}

function isObject(value: unknown): value is Attributes {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
