/** The actions that rules are about. */

/** All actions. */
export const actions = ["list", "read", "create", "update", "delete"] as const;

/** An action. PUT, PATCH and the restore of an earlier version are updates. */
export type Action = (typeof actions)[number];

/** Names for several actions at once. A rule for a single action takes precedence. */
export const shorthands = {
  read: ["list", "read"],
  write: ["create", "update", "delete"],
} as const satisfies Record<string, readonly Action[]>;

/** The scope that an action needs. */
export function scopeOf(action: Action): "read" | "write" {
  return action === "list" || action === "read" ? "read" : "write";
}
