/** What can be done with a collection's resources, as rules name it. */

/** Everything that a rule is about. */
export const actions = ["list", "read", "create", "update", "delete"] as const;

/** One of them. PUT, PATCH and going back to an earlier version are updates. */
export type Action = (typeof actions)[number];

/** Names that stand for several actions; an action that is named itself has its own rule. */
export const shorthands = {
  read: ["list", "read"],
  write: ["create", "update", "delete"],
} as const satisfies Record<string, readonly Action[]>;

/** Which half of a collection's scopes an action belongs to. */
export function scopeOf(action: Action): "read" | "write" {
  return action === "list" || action === "read" ? "read" : "write";
}
