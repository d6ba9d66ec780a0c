/** Filters in a configuration, such as those of access rules. */
import { attributeInfo } from "../collection/attributes.ts";
import type { Collection } from "../collection/collection.ts";
import { shortJson } from "../collection/messages.ts";
import { formatPath } from "../collection/paths.ts";
import { forwardName } from "../collection/relations.ts";
import { StartError, toSentence } from "../errors.ts";
import {
  leavesOf,
  ownPathsOf,
  type RequestedFilter,
  type RequestedLeaf,
  type StoreFilter,
  type StoreLeaf,
} from "./filter.ts";
import { readFilter } from "./filter-request.ts";
import { emptyFilterSize } from "./reading.ts";
import type { ViewOf } from "./related-resources.ts";
import { inBody, Violations } from "./violations.ts";

/** A filter, and what is wrong with it. */
export interface DeclaredFilter<F = RequestedFilter> {
  filter: F;
  violations: Violations;
}

/**
 * Reads a filter. The `unjudged` values can be compared with every attribute of their type. Without `viewOf`, it cannot name related
 * resources.
 */
export function readDeclaredFilter(
  declared: unknown,
  collection: Collection,
  { unjudged = new Set(), viewOf }: { unjudged?: ReadonlySet<unknown>; viewOf?: ViewOf | undefined } = {},
): DeclaredFilter {
  const violations = new Violations();
  const reading = { collection, violations, used: emptyFilterSize(), unjudged, ...(viewOf && { viewOf }) };
  return { filter: readFilter(declared, inBody("where"), reading), violations };
}

/**
 * Throws StartError with every fault of a filter, each with the place `at`. `user` names what cannot use related resources; `undefined`:
 * the filter can.
 */
export function requireValidFilter(
  { filter, violations }: DeclaredFilter<RequestedFilter | StoreFilter>,
  { at, collection, user }: { at: string; collection: Collection; user: string | undefined },
): void {
  const texts = violations.all.map(({ detail }) => `${at}: ${toSentence(detail)}`);
  if (texts.length > 0) throw new StartError(texts.map((text) => ({ path: [], text })));
  // An open schema allows any attribute, but in a list the same name leads to a related resource.
  for (const path of leavesOf<RequestedLeaf | StoreLeaf>(filter).flatMap(ownPathsOf)) {
    const [first, ...rest] = path;
    const reference = collection.references.find((each) => forwardName(each) === first);
    if (rest.length === 0 || reference === undefined || attributeInfo(collection, [first]).isDeclared)
      continue;
    const what = `${at}: "where" names ${shortJson(formatPath(path))}`;
    throw new StartError(
      user === undefined
        ? `${what}, but ${shortJson(first)} can be an attribute, because the schema allows others, or the relation of the reference ${shortJson(formatPath(reference.path))}. To follow the reference, set its "as" to ${shortJson(first)}.`
        : `${what}, but ${shortJson(first)} is a relation, and ${user} cannot use attributes of related resources. Compare attributes of the resource itself, such as ${shortJson(formatPath(reference.path))}.`,
    );
  }
}
