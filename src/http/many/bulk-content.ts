/** Reads the content of a bulk change: which resources to change, what to do with them, and how many can match. */
import type { Collection } from "../../collection/collection.ts";
import { shortJson } from "../../collection/messages.ts";
import { Problem } from "../../errors.ts";
import { parseJson, requireObject } from "../../json/parse.ts";
import { isObject } from "../../json/values.ts";
import { allOf, matchesAll, type RequestedFilter } from "../../query/filter.ts";
import { readFilter } from "../../query/filter-request.ts";
import { emptyFilterSize, readMax, readWord } from "../../query/reading.ts";
import type { ViewOf } from "../../query/related-resources.ts";
import { inBody, Violations } from "../../query/violations.ts";
import { jsonLimits } from "../protocol/content.ts";
import type { Limits } from "../settings.ts";
import { type Patch, patchOf } from "../writes/patch.ts";

/** A bulk change: a change of many resources. */
export interface BulkRequest {
  /** `undefined`: all resources that the caller can list. */
  filter: RequestedFilter | undefined;
  /** `undefined` deletes the resources. */
  patch: Patch | undefined;
  /** The length of its text, in characters. */
  patchLength: number;
  /** If more resources match, nothing changes. */
  max: number;
  isDryRun: boolean;
}

/** The members of the content. */
export const bulkMembers = ["filter", "all", "patch", "update", "delete", "max", "dryRun"] as const;

/** The largest `max`. */
export const maxBulk = 1_000;

/** The longest text of a patch, in characters. The service applies it to each resource. */
const maxBulkPatch = 65_536;

type Body = { [Name in (typeof bulkMembers)[number]]?: unknown };

/**
 * Reads the content. `most` is the largest `max`. Throws INVALID_PARAMETER with all violations, INVALID_PATCH, CONTENT_TOO_LARGE, BODY_NOT_OBJECT and the
 * problems of `parseJson`.
 */
export function parseBulk(
  bytes: Buffer,
  scope: { collection: Collection; viewOf: ViewOf },
  limits: Limits,
  most = maxBulk,
): BulkRequest {
  const body: Body = requireObject(parseJson(bytes, jsonLimits(limits)), {
    insteadOfArray: 'send {"filter":{…},"patch":{…},"max":100}',
  });
  const violations = new Violations();
  requireKnown(body, bulkMembers, violations);
  const filter = readSelection(body, scope, violations);
  requireOneAction(body, violations);
  const terms = readTerms(body, violations, most);
  violations.throwIfAny();
  return { filter, ...readPatch(body, limits), ...terms };
}

/** The members of a restore of many. */
export const restoresMembers = ["filter", "all", "max", "dryRun"] as const satisfies (keyof Body)[];

/**
 * Reads the content of a restore of many deleted resources. `collection` is that of the deleted ones, and `most` is the largest
 * `max`. Throws as `parseBulk` does.
 */
export function parseRestores(
  bytes: Buffer,
  collection: Collection,
  limits: Limits,
  most = maxBulk,
): Omit<BulkRequest, "patch" | "patchLength"> {
  const body: Body = requireObject(parseJson(bytes, jsonLimits(limits)), {
    insteadOfArray: 'send {"filter":{…},"max":100}',
  });
  const violations = new Violations();
  requireKnown(body, restoresMembers, violations);
  const filter = readSelection(body, { collection }, violations);
  const terms = readTerms(body, violations, most);
  violations.throwIfAny();
  return { filter, ...terms };
}

const ifLarger = '. With the header "Prefer: respond-async", it can be larger';

function readTerms(
  { max, dryRun }: Body,
  violations: Violations,
  most = maxBulk,
): Pick<BulkRequest, "max" | "isDryRun"> {
  return {
    max: readMax(max, violations, { most, verb: "match", ...(most === maxBulk && { ifLarger }) }),
    isDryRun: readWord(dryRun, inBody("dryRun"), { words: [true, false], violations }) ?? false,
  };
}

function requireKnown(body: Body, known: readonly string[], violations: Violations): void {
  for (const name of Object.keys(body)) {
    if (known.includes(name)) continue;
    violations.add(inBody(name), "unknownMember", () => {
      const nearest = violations.suggest(name, () => known) || ` Known names: ${known.join(", ")}`;
      return `is not understood.${nearest}`;
    });
  }
}

function readSelection(
  { filter, all }: Body,
  scope: { collection: Collection; viewOf?: ViewOf },
  violations: Violations,
): RequestedFilter | undefined {
  if (all !== undefined && all !== true)
    violations.add(inBody("all"), "value", `must be true, not ${shortJson(all)}`);
  if (all !== undefined && filter !== undefined)
    violations.add(inBody("all"), "all", 'cannot be used together with "filter"');
  if (filter === undefined) {
    if (all === undefined) violations.add(inBody("filter"), "required", `is required. ${withoutFilter}`);
    return undefined;
  }
  const read = readFilter(filter, inBody("filter"), { ...scope, violations, used: emptyFilterSize() });
  if (matchesAll(read))
    violations.add(inBody("filter"), "filter", `matches every resource. ${withoutFilter}`);
  return allOf([read]);
}

const withoutFilter = 'To change every resource, send "all":true instead';

const actions = ["patch", "update", "delete"] as const;

function requireOneAction(body: Body, violations: Violations): void {
  const named = actions.filter((name) => body[name] !== undefined);
  const [first, second] = named;
  if (first === undefined) {
    const detail = 'is required: a merge patch. Or send "update" with operators, or "delete":true';
    violations.add(inBody("patch"), "required", detail);
  }
  if (second !== undefined)
    violations.add(inBody(second), "action", `cannot be used together with ${shortJson(first)}`);
  for (const name of ["patch", "update"] as const) {
    if (body[name] !== undefined && !isObject(body[name]))
      violations.add(inBody(name), "type", `must be an object of attributes, not ${shortJson(body[name])}`);
  }
  if (body.delete !== undefined && body.delete !== true)
    violations.add(inBody("delete"), "value", `must be true, not ${shortJson(body.delete)}`);
}

function readPatch({ patch, update }: Body, limits: Limits): Pick<BulkRequest, "patch" | "patchLength"> {
  const value = patch ?? update;
  if (value === undefined) return { patch: undefined, patchLength: 0 };
  const patchLength = JSON.stringify(value).length;
  if (patchLength > maxBulkPatch) {
    throw new Problem(
      "CONTENT_TOO_LARGE",
      `A patch of many resources can have at most ${maxBulkPatch} characters. Send larger patches one by one, or with _batch.`,
    );
  }
  if (patch !== undefined) return { patch: patchOf("merge-patch", patch, limits), patchLength };
  try {
    return { patch: patchOf("update", update, limits), patchLength };
  } catch (error) {
    throw insideUpdate(error);
  }
}

/** An error about the operators of an update: its pointers start at the body. Any other error stays the same. */
export function insideUpdate(error: unknown): unknown {
  if (!(error instanceof Problem) || error.code !== "INVALID_PATCH") return error;
  const { code, message, violations } = error;
  return new Problem(code, message, {
    cause: error,
    violations: violations.map((each) =>
      each.pointer === undefined ? each : { ...each, pointer: each.pointer.replace("#", "#/update") },
    ),
  });
}
