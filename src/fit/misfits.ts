/** Finds what of a collection does not fit. */
import type { Collection } from "../collection/collection.ts";
import type { Attributes } from "../collection/resource.ts";
import { withoutId } from "../collection/resource.ts";
import type { Violation } from "../errors.ts";
import { subjectAt } from "../json/pointer.ts";
import { type Check, referenceCheck, type Scannable, schemaCheck, uniqueCheck } from "./checks.ts";

/** What can be looked for, in the order in which it is told. */
export const checkNames = ["schema", "unique", "references"] as const;

/** The name of a check. */
export type CheckName = (typeof checkNames)[number];

/** A resource that does not fit. */
export interface Misfit {
  id: string;
  violations: readonly Violation[];
}

/** What one check came to. */
export interface Misfits {
  /** How many resources were looked at. */
  checked: number;
  /** How many of them do not fit. */
  count: number;
  /** The first of those, in id order. */
  first: readonly Misfit[];
}

interface Finding extends Misfits {
  name: CheckName;
  check: Check;
  first: Misfit[];
}

/** Looks at every resource of a collection once, and gives by name what each check came to of which something is declared. */
export async function findMisfits(
  store: Scannable,
  collection: Collection,
  { names, shown }: { names: readonly CheckName[]; shown: number },
): Promise<ReadonlyMap<CheckName, Misfits>> {
  const findings: Finding[] = [];
  try {
    for (const name of names.filter((each) => each === "schema" || collection[each].length > 0)) {
      const check = await openCheck(store, collection, name);
      findings.push({ name, check, checked: 0, count: 0, first: [] });
    }
    for await (const { id, text } of findings.length === 0 ? [] : store.scan(collection.name)) {
      const attributes = withoutId(JSON.parse(text) as Record<string, unknown>);
      for (const finding of findings) note(finding, { id, attributes }, shown);
    }
  } finally {
    for (const { check } of findings) check.close();
  }
  return new Map(findings.map((finding) => [finding.name, finding]));
}

async function openCheck(store: Scannable, collection: Collection, name: CheckName): Promise<Check> {
  if (name === "schema") return schemaCheck(collection);
  return name === "unique" ? uniqueCheck(collection) : referenceCheck(store, collection);
}

function note(finding: Finding, resource: { id: string; attributes: Attributes }, shown: number): void {
  finding.checked++;
  const violations = finding.check.judge(resource);
  if (violations.length === 0) return;
  finding.count++;
  if (finding.first.length < shown) finding.first.push({ id: resource.id, violations });
}

const shownViolations = 3;

/** What is wrong with a resource, in one line. */
export function describeViolations(violations: readonly Violation[]): string {
  const shown = violations
    .slice(0, shownViolations)
    .map(({ pointer, detail }) =>
      pointer === undefined || pointer === "#" ? detail : `${subjectAt(pointer, "")} ${detail}`,
    );
  const more = violations.length - shown.length;
  return more > 0 ? `${shown.join("; ")}; and ${more} more` : shown.join("; ");
}
