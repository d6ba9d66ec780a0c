/** The resources that would not fit after a rewind: at most 50 of them. */
import { Problem, type Violation } from "../errors.ts";
import { danglingDetail, maxRefusals, takenDetail } from "../store/core/commits/refusals.ts";
import type { Change } from "../store/port/commit.ts";
import type { Key } from "../store/port/stored.ts";

/** One reason why a resource would not fit. */
export interface Misfit extends Key {
  /** The attribute, as a JSON Pointer in a fragment; absent if it is about the whole resource. */
  pointer?: string;
  /** The rule: a JSON Schema keyword, `unique`, `reference` or `referenced`. */
  code: string;
  detail: string;
}

/** The codes of what a store refuses. */
const codes: Readonly<Record<string, string>> = {
  UNIQUE_VIOLATION: "unique",
  REFERENCE_NOT_FOUND: "reference",
  REFERENCED: "referenced",
};

/** The details of those that name an attribute. */
const details: Readonly<Record<string, string>> = {
  UNIQUE_VIOLATION: takenDetail,
  REFERENCE_NOT_FOUND: danglingDetail,
};

/** The first misfits, and whether there are more. */
export class Misfits {
  readonly #first: Misfit[] = [];
  #hasMore = false;

  get first(): readonly Misfit[] {
    return this.#first;
  }

  get hasMore(): boolean {
    return this.#hasMore;
  }

  get isEmpty(): boolean {
    return this.#first.length === 0;
  }

  /** Adds the violations of a schema. */
  addViolations({ collection, id }: Key, violations: readonly Violation[]): void {
    for (const { pointer, code, detail } of violations)
      this.#add({ collection, id, ...(pointer === undefined ? {} : { pointer }), code, detail });
  }

  /** Adds the reasons why a store refuses a commit with these changes. Throws any other error. */
  addRefusals(error: unknown, changes: readonly Change[]): void {
    if (!(error instanceof Problem) || codes[error.code] === undefined) throw error;
    for (const { code, attribute: pointer, message, change } of [error, ...error.others]) {
      const key = changes[change ?? 0]?.key as Key;
      const detail = details[code] ?? message;
      this.#add({ ...key, ...(pointer === undefined ? {} : { pointer }), code: codes[code] ?? code, detail });
    }
    if (error.others.length + 1 >= maxRefusals) this.#hasMore = true;
  }

  #add(misfit: Misfit): void {
    if (this.#first.length < maxRefusals) this.#first.push(misfit);
    else this.#hasMore = true;
  }
}
