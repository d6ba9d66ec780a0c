/** Writes by callers who do not see or may not set every attribute: what they leave alone is kept. */
import { isDeepStrictEqual } from "node:util";
import type { Violation } from "../errors.ts";
import { toFragment } from "../json/pointer.ts";
import type { Attributes } from "./resource.ts";
import type { Sight } from "./sight.ts";

/** What is wrong with the attributes that a client would leave behind where `current` ones are, or would be by themselves. */
export function settingFaults(next: Attributes, current: Attributes, sight: Sight): Violation[] {
  const unknown = [...sight.concealed].filter((name) => Object.hasOwn(next, name));
  const fixed = [...sight.readOnly].filter(
    (name) =>
      !sight.concealed.has(name) && Object.hasOwn(next, name) && !isKept(name, { next, current, sight }),
  );
  return [
    ...unknown.map((name) => faultAt(name, "unknownAttribute", isUnknown)),
    ...fixed.map((name) => faultAt(name, "readOnly", readOnlyDetail(sight.hidden.has(name)))),
  ];
}

function readOnlyDetail(isHidden: boolean): string {
  return isHidden ? "is read-only: leave it out" : "is read-only: leave it out, or send its current value";
}

/** What nobody is told must not be guessed either: no value of it is the same. */
function isKept(
  name: string,
  { next, current, sight }: { next: Attributes; current: Attributes; sight: Sight },
): boolean {
  return (
    !sight.hidden.has(name) && Object.hasOwn(current, name) && isDeepStrictEqual(next[name], current[name])
  );
}

/** What is wrong with taking away attributes that the client saw and may not set. */
export function removalFaults(
  next: Attributes,
  current: Attributes,
  { readOnly, hidden }: Sight,
): Violation[] {
  return [...readOnly]
    .filter((name) => !hidden.has(name) && Object.hasOwn(current, name) && !Object.hasOwn(next, name))
    .map((name) => faultAt(name, "readOnly", "is read-only and cannot be removed"));
}

/** As `removalFaults`, for a client that must not learn whether they are there. */
export function blindRemovalFaults(removed: readonly string[], { readOnly, concealed }: Sight): Violation[] {
  return removed
    .filter((name) => readOnly.has(name) && !concealed.has(name))
    .map((name) => faultAt(name, "readOnly", "is read-only and cannot be removed"));
}

/** The attributes that are left behind, in the order of the current ones: those of `next`, and the kept ones that it lacks. */
export function rejoined(
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
 * The violations as far as they may be told to somebody who sent these attributes: what is hidden has neither name nor
 * value. Of a new resource everything was sent that can be set and not be read.
 */
export function toldViolations(
  violations: readonly Violation[],
  { concealed, hidden }: Sight,
  { sent, isNew }: { sent: Attributes; isNew: boolean },
): readonly Violation[] {
  const namesConcealed = ({ detail }: Violation) =>
    [...concealed].some((name) => detail.includes(JSON.stringify(name)));
  const isSecret = (each: Violation) =>
    [...(isNew ? concealed : hidden)].some(
      (name) => isAt(each.pointer ?? "", name) && !Object.hasOwn(sent, name),
    ) || namesConcealed(each);
  if (!violations.some(isSecret)) return violations;
  // A name that is nearly that of what is concealed is answered like any other.
  const plain = violations.map((each) =>
    each.code === "unknownAttribute" && namesConcealed(each) ? { ...each, detail: isUnknown } : each,
  );
  const told = plain.filter((each) => !isSecret(each));
  return told.length === plain.length ? told : [...told, unfit];
}

const isUnknown = "is not an attribute of the schema";

function isAt(pointer: string, name: string): boolean {
  const place = toFragment([name]);
  return pointer === place || pointer.startsWith(`${place}/`);
}

const unfit: Violation = {
  in: "body",
  pointer: "#",
  code: "hidden",
  detail: "conflicts with attributes that you cannot see",
};

function faultAt(name: string, code: string, detail: string): Violation {
  return { in: "body", pointer: toFragment([name]), code, detail };
}
