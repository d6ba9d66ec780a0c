/** Paths without a state refuse preconditions. */
import { Problem } from "../../errors.ts";
import type { HttpRequest } from "./message.ts";

/** Throws INVALID_PARAMETER if the request has a precondition. `detail` completes a sentence that begins with its name. */
export function requireNoPreconditions({ headers }: HttpRequest, detail: string): void {
  const names = ["If-Match", "If-None-Match", "If-Unmodified-Since"];
  const name = names.find((each) => headers[each.toLowerCase()] !== undefined);
  if (name === undefined) return;
  throw new Problem("INVALID_PARAMETER", `${name} ${detail}.`, {
    violations: [{ in: "header", name, code: "unknown", detail }],
  });
}
