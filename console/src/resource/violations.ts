/** Where the errors of the service belong in the form. */
import type { Violation } from "holdfast-client";
import { type Attributes, isEqual, valueAt } from "./draft.ts";

/** The errors of a refused write. */
export interface Refusal {
  /** The sentences of each attribute. */
  byName: ReadonlyMap<string, readonly string[]>;
  /** The sentences of no attribute. */
  others: readonly string[];
}

/** Sorts violations by the attribute that their JSON Pointer names first. */
export function sortViolations(violations: readonly Violation[]): Refusal {
  const byName = new Map<string, string[]>();
  const others: string[] = [];
  for (const { pointer, name: parameter, detail } of violations) {
    const path = pointer === undefined ? [] : pathOf(pointer);
    const [name] = path;
    if (name === undefined) others.push(parameter === undefined ? detail : `${parameter}: ${detail}`);
    else byName.set(name, [...(byName.get(name) ?? []), sentence(path.slice(1), detail)]);
  }
  return { byName, others };
}

/** The errors that still apply to a draft: those of attributes that the user has changed since are left out. */
export function stillWrong({ byName, others }: Refusal, refused: Attributes, mine: Attributes): Refusal {
  const isSame = (name: string) =>
    Object.hasOwn(refused, name) === Object.hasOwn(mine, name) &&
    isEqual(valueAt(refused, name), valueAt(mine, name));
  return { byName: new Map([...byName].filter(([name]) => isSame(name))), others };
}

/** The errors that no field of these names shows, as sentences. */
export function otherProblems({ byName, others }: Refusal, names: ReadonlySet<string>): string[] {
  const hidden = [...byName].filter(([name]) => !names.has(name));
  return [...others, ...hidden.flatMap(([name, all]) => all.map((each) => `${name}: ${each}`))];
}

function sentence(path: readonly string[], detail: string): string {
  return path.length === 0 ? detail : `${path.join(" › ")}: ${detail}`;
}

/** The names in a JSON Pointer that is a URI fragment (RFC 6901). */
export function pathOf(pointer: string): string[] {
  const [, ...parts] = pointer.replace(/^#/, "").split("/");
  return parts.map((part) => decode(part).replaceAll("~1", "/").replaceAll("~0", "~"));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
