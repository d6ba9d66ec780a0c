/** Writes by callers who cannot see or set every attribute. Attributes that they do not send keep their values. */
import { isDeepStrictEqual } from "node:util";
import type { Violation } from "../errors.ts";
import { toFragment } from "../json/pointer.ts";
import type { Attributes } from "./resource.ts";
import type { AttributeVisibility } from "./visibility.ts";

/**
 * The attributes in `next` that the caller cannot set. `current` are those of the resource before; of a new resource, its
 * defaults.
 */
export function assignmentViolations(
  next: Attributes,
  current: Attributes,
  visibility: AttributeVisibility,
): Violation[] {
  const { restricted, readOnly, hidden } = visibility;
  const unknown = [...restricted].filter((name) => Object.hasOwn(next, name));
  const fixed = [...readOnly].filter(
    (name) =>
      !restricted.has(name) && Object.hasOwn(next, name) && !isUnchanged(name, { next, current, visibility }),
  );
  return [
    ...unknown.map((name) => violationAt(name, "unknownAttribute", isUnknown)),
    ...fixed.map((name) => violationAt(name, "readOnly", readOnlyDetail(hidden.has(name)))),
  ];
}

function readOnlyDetail(isHidden: boolean): string {
  return isHidden ? "is read-only: leave it out" : "is read-only: leave it out, or send its current value";
}

/** A hidden value counts as changed always, so that a caller cannot guess it. */
function isUnchanged(
  name: string,
  { next, current, visibility }: { next: Attributes; current: Attributes; visibility: AttributeVisibility },
): boolean {
  return (
    !visibility.hidden.has(name) &&
    Object.hasOwn(current, name) &&
    isDeepStrictEqual(next[name], current[name])
  );
}

/** The attributes that the caller sees and cannot set, and that `next` would remove. */
export function removalViolations(
  next: Attributes,
  current: Attributes,
  { readOnly, hidden }: AttributeVisibility,
): Violation[] {
  return [...readOnly]
    .filter((name) => !hidden.has(name) && Object.hasOwn(current, name) && !Object.hasOwn(next, name))
    .map(readOnlyRemoval);
}

/** As `removalViolations`, for a caller who must not learn which attributes exist: `removed` are those that a patch names. */
export function removalViolationsWithoutRead(
  removed: readonly string[],
  { readOnly, restricted }: AttributeVisibility,
): Violation[] {
  return removed.filter((name) => readOnly.has(name) && !restricted.has(name)).map(readOnlyRemoval);
}

function readOnlyRemoval(name: string): Violation {
  return violationAt(name, "readOnly", "is read-only and cannot be removed");
}

/** The attributes of `next`, and those of `current` that `next` lacks and `isKept` keeps, in the order of `current`. */
export function withKept(
  next: Attributes,
  current: Attributes,
  isKept: (name: string) => boolean,
): Attributes {
  const names = new Set([...Object.keys(current), ...Object.keys(next)]);
  const all = [...names].flatMap((name): [string, unknown][] => {
    if (Object.hasOwn(next, name)) return [[name, next[name]]];
    return isKept(name) ? [[name, current[name]]] : [];
  });
  return Object.fromEntries(all);
}

/**
 * The violations that a caller who sent these attributes may see: none has the name or the value of a hidden attribute. The
 * write-only attributes of a new resource are not hidden from the caller who creates it.
 */
export function visibleViolations(
  violations: readonly Violation[],
  { restricted, hidden }: AttributeVisibility,
  { sent, isNew }: { sent: Attributes; isNew: boolean },
): readonly Violation[] {
  const namesRestricted = ({ detail }: Violation) =>
    [...restricted].some((name) => detail.includes(JSON.stringify(name)));
  const isSecret = (each: Violation) =>
    [...(isNew ? restricted : hidden)].some(
      (name) => isAt(each.pointer ?? "", name) && !Object.hasOwn(sent, name),
    ) || namesRestricted(each);
  if (!violations.some(isSecret)) return violations;
  // An unknown name that is similar to a restricted one gets the same detail as any other.
  const plain = violations.map((each) =>
    each.code === "unknownAttribute" && namesRestricted(each) ? { ...each, detail: isUnknown } : each,
  );
  const visible = plain.filter((each) => !isSecret(each));
  return visible.length === plain.length ? visible : [...visible, hiddenConflict];
}

const isUnknown = "is not an attribute of the schema";

function isAt(pointer: string, name: string): boolean {
  const place = toFragment([name]);
  return pointer === place || pointer.startsWith(`${place}/`);
}

const hiddenConflict: Violation = {
  in: "body",
  pointer: "#",
  code: "hidden",
  detail: "conflicts with attributes that you cannot see",
};

function violationAt(name: string, code: string, detail: string): Violation {
  return { in: "body", pointer: toFragment([name]), code, detail };
}
