/** Content codings of answers: which of them Accept-Encoding takes (RFC 9110 §12.5.3), and their entity tags. */

import type { Coding } from "./message.ts";

/** The first one is used if the client likes both alike. */
const codings: readonly Coding[] = ["br", "gzip"];

/** What an Accept-Encoding value says. */
export interface AcceptedCodings {
  /**
   * The coding that the client likes best; `undefined` for no coding at all. A coding that is named is preferred to none,
   * unless `identity` is named with a higher quality.
   */
  preferred: Coding | undefined;
  /** All codings that the client takes. */
  codings: readonly Coding[];
  /** Whether it takes content without a coding. */
  plain: boolean;
}

/** Without the header, a client takes anything; many that send none cannot decode. */
const anything: AcceptedCodings = { preferred: undefined, codings, plain: true };

/** Values that were read lately: there are few. */
const readLately = new Map<string, AcceptedCodings>();

const kept = { values: 100, length: 200 } as const;

/** Reads an Accept-Encoding value. Malformed qualities count as 0. */
export function acceptedCodings(value: string | undefined): AcceptedCodings {
  if (value === undefined) return anything;
  const known = readLately.get(value);
  if (known !== undefined) return known;
  const accepted = read(value);
  if (readLately.size >= kept.values) readLately.clear();
  if (value.length <= kept.length) readLately.set(value, accepted);
  return accepted;
}

function read(value: string): AcceptedCodings {
  const qualities = qualitiesIn(value);
  const others = qualities.get("*");
  const qualityOf = (coding: Coding) => qualities.get(coding) ?? others ?? 0;
  const taken = codings.filter((coding) => qualityOf(coding) > 0);
  const best = Math.max(qualities.get("identity") ?? 0, ...taken.map(qualityOf));
  const preferred = taken.find((coding) => qualityOf(coding) === best);
  return { preferred, codings: taken, plain: (qualities.get("identity") ?? others ?? 1) > 0 };
}

/** By coding in lower case. */
function qualitiesIn(value: string): Map<string, number> {
  const items = value.split(",").map((item): [string, number] => {
    const [coding = "", ...parameters] = item.split(";").map((part) => part.trim().toLowerCase());
    const q = parameters.find((each) => each.startsWith("q="));
    return [coding === "x-gzip" ? "gzip" : coding, q === undefined ? 1 : Number(q.slice(2)) || 0];
  });
  return new Map(items);
}

/**
 * The entity tag of the same content with a coding. A strong tag differs between codings (RFC 9110 §8.8.3.3). A weak one
 * does not have to (§8.8.1).
 */
export function codedTag(etag: string, coding: Coding): string {
  return etag.startsWith("W/") ? etag : withSuffix(etag, coding);
}

/**
 * An entity tag in the forms that a client can know it by: without a coding, and with each one that the client takes.
 * Proxies that compress add the same suffixes, also to weak tags.
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
