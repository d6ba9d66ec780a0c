/** What is wrong with what a list is asked for: gathered, so that a client learns of everything at once. */
import { createSuggest, shortJson } from "../collection/messages.ts";
import { Problem, toSentence, type Violation } from "../errors.ts";
import { formatPointer, toFragment } from "../json/pointer.ts";

/** A part of the request that can be wrong. */
export interface Place {
  in: "query" | "body";
  /** The parameter, or the member of the content. */
  name: string;
  /** The way on into its JSON. */
  path: readonly (string | number)[];
}

const maxViolations = 50;

/** A parameter. */
export function inQuery(name: string): Place {
  return { in: "query", name, path: [] };
}

/** A member of the content. */
export function inBody(name: string): Place {
  return { in: "body", name, path: [] };
}

/** What is at a place, one step further. */
export function inside(place: Place, step: string | number): Place {
  return { ...place, path: [...place.path, step] };
}

/** The violations found so far. */
export class Faults {
  readonly #violations: Violation[] = [];

  /** Suggests near names, for the first few wrong names only. */
  readonly suggest = createSuggest();

  /** Adds a fault. `what` completes a sentence that begins with the place: “must be true or false”. Pass a function if making it is costly. */
  add(place: Place, code: string, what: string | (() => string)): void {
    if (this.isFull) return;
    this.#violations.push(violationAt(place, code, typeof what === "string" ? what : what()));
  }

  /** Whether there are so many faults that `add` ignores more. Then the rest of the request need not be checked. */
  get isFull(): boolean {
    return this.#violations.length >= maxViolations;
  }

  /** What was added, in that order. */
  get violations(): readonly Violation[] {
    return this.#violations;
  }

  /** Throws INVALID_PARAMETER when there is any. */
  throwIfAny(): void {
    refuse(this.#violations);
  }
}

/** A violation at a place; `what` completes a sentence that begins with it. */
export function violationAt(place: Place, code: string, what: string): Violation {
  const detail = `${subjectOf(place)} ${what}`;
  if (place.in === "query") return { in: "query", name: place.name, code, detail };
  return { in: "body", pointer: toFragment([place.name, ...place.path]), code, detail };
}

/** Throws INVALID_PARAMETER when there are violations. */
export function refuse(violations: readonly Violation[]): void {
  const [first] = violations;
  if (first === undefined) return;
  const part = first.in === "query" ? "query parameter" : "member";
  throw new Problem("INVALID_PARAMETER", `The ${part} ${toSentence(first.detail)}`, { violations });
}

function subjectOf({ name, path }: Place): string {
  return path.length === 0 ? shortJson(name) : `${shortJson(name)}, at ${shortJson(formatPointer(path))},`;
}
