/** Who may do what: for now, everybody who is somebody. */
import type { Principal } from "./principal.ts";
import { unauthenticated } from "./refusals.ts";

/** Throws UNAUTHENTICATED where nobody is known to ask. */
export function requireCaller(principal: Principal | undefined): void {
  if (principal === undefined) throw unauthenticated();
}
