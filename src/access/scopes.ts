/** Scopes as they are written: `articles:read`, `articles:write`. */
import type { Scope } from "./principal.ts";

/** As collections are named. */
const shape = /^([^:\s]+):(read|write)$/;

/** The scope that a text is, or `undefined`. */
export function parseScope(text: string): Scope | undefined {
  const [, collection, action] = shape.exec(text) ?? [];
  return collection === undefined ? undefined : { collection, action: action as Scope["action"] };
}

/** The scopes among texts; others, such as those of the issuer itself, are left out. */
export function parseScopes(texts: readonly string[]): Scope[] {
  return texts.map(parseScope).filter((scope) => scope !== undefined);
}
