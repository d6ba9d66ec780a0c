/** Kinds of id that a collection can make. */
export type IdKind = "uuid" | "integer";
