/** Collects all violations of a list request, so that one response reports them all. */
import { createSuggest, shortJson } from "../collection/messages.ts";
import { Problem, toSentence, type Violation } from "../errors.ts";
import { formatPointer, toFragment } from "../json/pointer.ts";

/** A place in a request: a parameter, or a value in the body. */
export interface Location {
  in: "query" | "body";
  /** The parameter, or the member of the body. */
  name: string;
  /** The path inside the JSON of this parameter or member. */
  path: readonly (string | number)[];
}

const maxViolations = 50;

/** A response repeats long names of the request in each violation. After this many characters, it has no further violation. */
const maxText = 65_536;

/** The location of a query parameter. */
export function inQuery(name: string): Location {
  return { in: "query", name, path: [] };
}

/** The location of a member of the body. */
export function inBody(name: string): Location {
  return { in: "body", name, path: [] };
}

/** The location of a member or an item of the value at `location`. */
export function inside(location: Location, step: string | number): Location {
  return { ...location, path: [...location.path, step] };
}

/** The violations that were found so far. */
export class Violations {
  readonly #violations: Violation[] = [];
  #text = 0;
  readonly #hasSubjects: boolean;

  /** With `hasSubjects: false`, the details do not begin with the location: what reports them names it. */
  constructor({ hasSubjects = true } = {}) {
    this.#hasSubjects = hasSubjects;
  }

  /** Suggests similar names for the first few wrong names. */
  readonly suggest = createSuggest();

  /**
   * Adds a violation. `what` completes a sentence that begins with the location: “must be true or false”. Pass a function if
   * the text is expensive to create.
   */
  add(location: Location, code: string, what: string | (() => string)): void {
    if (this.isFull) return;
    const detail = typeof what === "string" ? what : what();
    const violation = violationAt(location, code, detail);
    this.#violations.push(this.#hasSubjects ? violation : { ...violation, detail });
    this.#text += violation.detail.length + (violation.pointer?.length ?? 0);
  }

  /** Adds a violation: `must be ${expected}, not ${value}`. */
  mustBe(location: Location, code: string, expected: string, value: unknown): void {
    this.add(location, code, () => `must be ${expected}, not ${shortJson(value)}`);
  }

  /** Whether `add` ignores further violations. Then it is not necessary to check the rest of the request. */
  get isFull(): boolean {
    return this.#violations.length >= maxViolations || this.#text > maxText;
  }

  /** All violations, in the order of `add`. */
  get all(): readonly Violation[] {
    return this.#violations;
  }

  /** Throws INVALID_PARAMETER if a violation was found. */
  throwIfAny(): void {
    const problem = this.problem();
    if (problem !== undefined) throw problem;
  }

  /** INVALID_PARAMETER with all violations; `undefined` if none was found. */
  problem(): Problem | undefined {
    const [first] = this.#violations;
    if (first === undefined) return undefined;
    const part = first.in === "query" ? "query parameter" : "member";
    return new Problem("INVALID_PARAMETER", `The ${part} ${toSentence(first.detail)}`, {
      violations: this.#violations,
    });
  }
}

/** A violation at a location. `what` completes a sentence that begins with the location. */
export function violationAt(location: Location, code: string, what: string): Violation {
  const detail = `${subjectOf(location)} ${what}`;
  if (location.in === "query") return { in: "query", name: location.name, code, detail };
  return { in: "body", pointer: toFragment([location.name, ...location.path]), code, detail };
}

function subjectOf({ name, path }: Location): string {
  return path.length === 0 ? shortJson(name) : `${shortJson(name)}, at ${shortJson(formatPointer(path))},`;
}
