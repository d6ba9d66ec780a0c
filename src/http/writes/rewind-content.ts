/** Reads the content of a rewind: the time, the collections, how many resources can change, and whether it is a dry run. */
import { shortJson } from "../../collection/messages.ts";
import { parseJson, requireObject } from "../../json/parse.ts";
import { readMax, readTime, readWord } from "../../query/reading.ts";
import { inBody, inside, Violations } from "../../query/violations.ts";
import { maxChangesSince } from "../../store/core/changes-since.ts";
import { jsonLimits } from "../protocol/content.ts";
import type { Limits } from "../settings.ts";

/** The content of a rewind. */
export interface RewindContent {
  /** Unix time in milliseconds. */
  to: number;
  /** The names of the collections; `undefined`: all. */
  collections: readonly string[] | undefined;
  /** If more resources would change, nothing changes. */
  max: number;
  isDryRun: boolean;
}

/** The members of the content. */
export const rewindMembers = ["to", "collections", "max", "dryRun"] as const;

type Body = { [Name in (typeof rewindMembers)[number]]?: unknown };

/** Reads the content. `known` are the names of all collections. Throws INVALID_PARAMETER and the problems of `parseJson`. */
export function parseRewind(
  bytes: Buffer,
  { known, now }: { known: readonly string[]; now: number },
  limits: Limits,
): RewindContent {
  const body: Body = requireObject(parseJson(bytes, jsonLimits(limits)), {
    insteadOfArray: 'send {"to":"2026-01-31T08:30:00.000Z","max":100}',
  });
  const violations = new Violations();
  for (const name of Object.keys(body)) {
    if (!(rewindMembers as readonly string[]).includes(name))
      violations.add(
        inBody(name),
        "unknownMember",
        `is not understood. Known names: ${rewindMembers.join(", ")}`,
      );
  }
  const to = readTime(body.to, inBody("to"), violations);
  if (body.to === undefined)
    violations.add(
      inBody("to"),
      "required",
      "is required: the time to go back to, such as 2026-01-31T08:30:00.000Z",
    );
  if (to !== undefined && to > now) violations.add(inBody("to"), "to", "must not be in the future");
  const collections = readNames(body.collections, known, violations);
  const max = readMax(body.max, violations, { most: maxChangesSince, verb: "would change" });
  const isDryRun = readWord(body.dryRun, inBody("dryRun"), { words: [true, false], violations }) ?? false;
  violations.throwIfAny();
  return { to: to as number, collections, max, isDryRun };
}

function readNames(
  value: unknown,
  known: readonly string[],
  violations: Violations,
): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const location = inBody("collections");
  if (!Array.isArray(value) || value.length === 0) {
    const detail = `must be a list of names of collections, not ${shortJson(value)}. To rewind all collections, leave it out`;
    violations.add(location, "type", detail);
    return undefined;
  }
  for (const [index, name] of value.entries()) {
    if (known.includes(name)) continue;
    violations.add(inside(location, index), "collection", () => {
      const nearest = typeof name === "string" ? violations.suggest(name, () => known) : "";
      return `is not the name of a collection: ${shortJson(name)}.${nearest}`;
    });
  }
  return [...new Set(value as string[])];
}
