/**
 * The order of a list: by the values of some attributes, and at last by id, so that no two resources are equal in it.
 *
 * Types come in the order null or absent, boolean, number, string, array or object. Strings are compared by code point,
 * and only their first 128 code points count; arrays and objects are all equal.
 */

/** Code points of a string that count. */
export const sortedCodePoints = 128;

/** An attribute's value as far as the order cares: an absent one is `null`, `[]` stands for every array and object. */
export type SortValue = null | boolean | number | string | readonly [];

/** A place in a list: a value for each of the keys by which it is sorted, the id (as it stands in the resource) last. */
export type Position = readonly SortValue[];
