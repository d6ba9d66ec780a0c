/** Places in the change log of a collection. Only this file and the store know their form. */

declare const form: unique symbol;

/**
 * A place in the change log of one collection: after one of its changes, or before all of them. The place of a change is the one after it.
 *
 * Equal places are `===`. `String` gives each place a text of its own, and JSON keeps a place as it is.
 *
 * A place is a number. Its type says symbol, because the compiler then refuses to calculate with places, to order them and to put them into
 * templates. So the form can change, and only this file and the store must know.
 */
export type LogPlace = symbol & { readonly [form]: true };

/** The place after the change with this sequence, or before all changes for 0. Only the store calls it. */
export function toPlace(sequence: number): LogPlace {
  return sequence as unknown as LogPlace;
}

/** The sequence of the change before a place; 0 before all changes. Only the store calls it. */
export function toNumber(place: LogPlace): number {
  return place as unknown as number;
}

/** The place before all changes. */
export const logStart: LogPlace = toPlace(0);

/** Whether a place is after another one of the same log. */
export function isAfter(place: LogPlace, other: LogPlace): boolean {
  return toNumber(place) > toNumber(other);
}

/** The earlier one of two places. */
export function earlierOf(one: LogPlace, other: LogPlace): LogPlace {
  return isAfter(one, other) ? other : one;
}

/** The later one of two places. */
export function laterOf(one: LogPlace, other: LogPlace): LogPlace {
  return isAfter(one, other) ? one : other;
}

/** The place before a change. */
export function placeBefore(change: LogPlace): LogPlace {
  return toPlace(toNumber(change) - 1);
}

/** The place after this many further changes. */
export function placeAfter(place: LogPlace, changes: number): LogPlace {
  return toPlace(toNumber(place) + changes);
}

/** How many changes are after one place and up to another; 0 if the second is not after the first. */
export function changesBetween(from: LogPlace, to: LogPlace): number {
  return Math.max(0, toNumber(to) - toNumber(from));
}

/** The bytes of a place in a block of bytes. */
export const placeBytes = 6;

/** Writes a place into a block of bytes. */
export function writePlace(place: LogPlace, block: Buffer, offset: number): void {
  block.writeUIntBE(toNumber(place), offset, placeBytes);
}

/** Reads what `writePlace` has written. */
export function readPlace(block: Buffer, offset: number): LogPlace {
  return toPlace(block.readUIntBE(offset, placeBytes));
}
