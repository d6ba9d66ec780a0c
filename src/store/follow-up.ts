/** What becomes of one that refers to something deleted, and how it is said that nothing may. */
import type { IdKind } from "../collection/ids.ts";
import { clearReference, type Reference } from "../collection/refers.ts";
import { resourceText } from "../collection/resource.ts";
import { clientAttributes, withTimes } from "../collection/timestamps.ts";

/** So many changes hold the other writers up for a second or less. */
const maxResources = 10_000;

/** So much text, as it is before the changes, fits into the memory and is written within seconds. In bytes. */
export const maxFollowedText = 16 * 1024 * 1024;

/** Who refers: a resource as it is, its collection, and by what. */
export interface Referring {
  resource: { id: string; text: string; updatedAt: number };
  from: { idKind: IdKind; timestamps?: boolean };
  reference: Reference;
}

/**
 * When it changes as a consequence of a delete at the time `at`. Where that shows in the resource, not before its last
 * change: a clock may have been set back meanwhile.
 */
export function timeOfFollowing({ resource, from }: Referring, at: number): number {
  return from.timestamps ? Math.max(at, resource.updatedAt) : at;
}

/** The text without the reference to the resource of this id; `undefined` where the one that refers goes too. */
export function textWithout(
  { resource, from: { idKind, timestamps = false }, reference }: Referring,
  { id, at }: { id: string; at: number },
): string | undefined {
  if (reference.onDelete === "cascade") return undefined;
  const attributes = clientAttributes({ timestamps }, JSON.parse(resource.text));
  clearReference(attributes, reference, id);
  return resourceText(idKind, resource.id, timestamps ? withTimes(attributes, at, resource) : attributes);
}

/** Says that a resource is referred to. */
export function referencedDetail(id: string): string {
  return `Other resources refer to ${JSON.stringify(id)}: delete or change them first.`;
}

/** Counts what follows the deletes of one commit. */
export class Extent {
  #resources = 0;
  #text = 0;

  /** What may still follow: so many resources, and so many bytes of text. */
  get left(): { resources: number; text: number } {
    return { resources: maxResources - this.#resources, text: maxFollowedText - this.#text };
  }

  /** Counts one more that follows the delete of the resource of this id. Says so where more would follow than may. */
  add(text: string, id: string): string | undefined {
    this.#resources++;
    this.#text += Buffer.byteLength(text);
    const { left } = this;
    if (left.resources < 0) return tooMuch(`${maxResources.toLocaleString("en")} resources`, id);
    if (left.text < 0) return tooMuch(`${maxFollowedText / 1024 / 1024} MiB of resources`, id);
    return undefined;
  }
}

function tooMuch(bound: string, id: string): string {
  return `Deleting ${JSON.stringify(id)} would change more than ${bound}. Delete or change some of them first.`;
}
