/** What the service says is wrong: in a sentence, and by the fields of a form. */
import { ProblemError, type Violation } from "holdfast-client";
import { decode } from "../route.ts";

/** The sentence of an error. */
export function messageOf(error: unknown): string {
  if (error instanceof ProblemError) return error.problem.detail ?? error.message;
  return error instanceof Error ? error.message : String(error);
}

/** The errors of a refused write. */
export interface Refusal {
  /** The sentences of each attribute. */
  byName: ReadonlyMap<string, readonly string[]>;
  /** The sentences of no attribute. */
  others: readonly string[];
  /** The resource that has the unique values already, if the caller can read it. */
  holder?: Place | undefined;
}

/** Where a resource is. */
export interface Place {
  collection: string;
  id: string;
}

/** The errors of a failed write, for a form. */
export function refusalOf(error: unknown): Refusal {
  const violations = error instanceof ProblemError ? (error.problem.violations ?? []) : [];
  const refusal =
    violations.length > 0 ? sortViolations(violations) : { byName: new Map(), others: [messageOf(error)] };
  return { ...refusal, holder: holderOf(error) };
}

/** The resource that has the unique values of a refused write; `undefined` for other errors, and if the caller cannot read it. */
export function holderOf(error: unknown): Place | undefined {
  const path = error instanceof ProblemError ? error.problem.holder : undefined;
  const [collection, id] = path?.split("/").slice(-2).map(decode) ?? [];
  return collection === undefined || id === undefined ? undefined : { collection, id };
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

/** What the service says is wrong, by the names of parameters. */
export function wrongParameters(error: unknown): Map<string, string> {
  const violations = error instanceof ProblemError ? (error.problem.violations ?? []) : [];
  return new Map(
    violations.flatMap(({ in: place, name, detail }) =>
      place === "query" && name !== undefined ? [[name, detail] as const] : [],
    ),
  );
}
