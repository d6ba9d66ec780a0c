/** Where the references of a schema lead, and which schemas speak about the same value. */
import { isSchemaObject, type Schema, subschemasOf } from "./keywords.ts";

/** Finds the schema that a `$ref` of this root leads to; `undefined` when it leads nowhere in it. */
export type Resolve = (ref: string) => unknown;

/** Resolves `#`, `#/a/pointer` and `#anchor`. Anything else is outside of the root. */
export function createResolve(root: Schema, anchors: ReadonlyMap<string, Schema>): Resolve {
  return (ref) => {
    if (!ref.startsWith("#")) return undefined;
    const fragment = decode(ref.slice(1));
    if (fragment === "") return root;
    return fragment.startsWith("/") ? follow(root, fragment) : anchors.get(fragment);
  };
}

function decode(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

function follow(root: unknown, pointer: string): unknown {
  let value = root;
  for (const segment of pointer.slice(1).split("/")) {
    const name = segment.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Schema)[name];
  }
  return value;
}

/** The schema itself and all that apply to the same value: by `$ref`, `allOf`, `anyOf`, `oneOf`, `then` and so on. */
export function groupOf(schema: Schema, resolve: Resolve): Set<Schema> {
  const group = new Set<Schema>();
  const open: unknown[] = [schema];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (!isSchemaObject(next) || group.has(next)) continue;
    group.add(next);
    open.push(...sameValue(next, resolve, ["here"]));
  }
  return group;
}

/** All schemas that this schema applies to the same value, not to a part of the value. */
export function schemasReachedFrom(schema: Schema, resolve: Resolve): ReadonlySet<Schema> {
  const reached = new Set<Schema>();
  const open = sameValue(schema, resolve, ["here", "if", "not"]);
  while (open.length > 0) {
    const next = open.pop();
    if (!isSchemaObject(next) || reached.has(next)) continue;
    reached.add(next);
    open.push(...sameValue(next, resolve, ["here", "if", "not"]));
  }
  return reached;
}

function sameValue(schema: Schema, resolve: Resolve, which: readonly string[]): unknown[] {
  const inside = subschemasOf(schema)
    .filter(({ applies, keyword }) => which.includes(applies) || which.includes(keyword))
    .map((each) => each.schema);
  return typeof schema.$ref === "string" ? [resolve(schema.$ref), ...inside] : inside;
}
