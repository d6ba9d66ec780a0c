/** Content codings of responses: which ones Accept-Encoding allows (RFC 9110 §12.5.3), and their entity tags. */

import { weightedItems } from "./media-types.ts";
import type { Coding } from "./message.ts";

/** The first one is used if the client prefers neither. */
const codings: readonly Coding[] = ["br", "gzip"];

/** The meaning of an Accept-Encoding value. */
export interface AcceptedCodings {
  /**
   * The coding that the client prefers; `undefined` for no coding. A coding in the list is preferred to none, unless
   * `identity` has a higher quality.
   */
  preferred: Coding | undefined;
  /** All codings that the client accepts. */
  codings: readonly Coding[];
  /** Whether it accepts content without a coding. */
  plain: boolean;
}

/** Without the header, every coding is allowed. But many clients that do not send it cannot decode any. */
const anything: AcceptedCodings = { preferred: undefined, codings, plain: true };

/** Recent values. There are few different ones. */
const recent = new Map<string, AcceptedCodings>();

const kept = { values: 100, length: 200 } as const;

/** Reads an Accept-Encoding value. Malformed qualities count as 0. */
export function acceptedCodings(value: string | undefined): AcceptedCodings {
  if (value === undefined) return anything;
  const known = recent.get(value);
  if (known !== undefined) return known;
  const accepted = read(value);
  if (recent.size >= kept.values) recent.clear();
  if (value.length <= kept.length) recent.set(value, accepted);
  return accepted;
}

function read(value: string): AcceptedCodings {
  const qualities = qualitiesIn(value);
  const others = qualities.get("*");
  const qualityOf = (coding: Coding) => qualities.get(coding) ?? others ?? 0;
  const accepted = codings.filter((coding) => qualityOf(coding) > 0);
  const best = Math.max(qualities.get("identity") ?? 0, ...accepted.map(qualityOf));
  const preferred = accepted.find((coding) => qualityOf(coding) === best);
  return { preferred, codings: accepted, plain: (qualities.get("identity") ?? others ?? 1) > 0 };
}

/** The quality of each coding, by its name in lower case. */
function qualitiesIn(value: string): Map<string, number> {
  return new Map(
    weightedItems(value).map(({ name, quality }) => [name === "x-gzip" ? "gzip" : name, quality]),
  );
}

/**
 * The entity tag of the same content with a coding. A strong tag differs between codings (RFC 9110 §8.8.3.3). A weak one
 * does not have to (§8.8.1).
 */
export function codedTag(etag: string, coding: Coding): string {
  return etag.startsWith("W/") ? etag : withSuffix(etag, coding);
}

/**
 * An entity tag in all forms that the client can have received: without a coding, and with each one that it accepts. Proxies
 * that compress add the same suffixes, also to weak tags.
 */
export function tagForms(etag: string, accepted: AcceptedCodings): readonly string[] {
  const coded = accepted.codings.map((coding) => withSuffix(etag, coding));
  return accepted.plain || etag.startsWith("W/") ? [etag, ...coded] : coded;
}

/** A tag without `W/`. */
export function withoutWeakness(tag: string): string {
  return tag.startsWith("W/") ? tag.slice(2) : tag;
}

function withSuffix(tag: string, coding: Coding): string {
  return `${tag.slice(0, -1)}-${coding}"`;
}
