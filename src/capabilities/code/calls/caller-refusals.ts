/**
 * What the service has refused to the caller of a route, whose rights `client` has. If the function does not catch such an error, the route
 * responds with it.
 */
import { type ProblemCode, problems } from "../../../errors.ts";
import type { InsideResponse } from "../../../http/inside.ts";

/** A refusal, as the response of a route says it. A 404 has no body, so it has no code. */
export type CallerRefusal =
  | { readonly kind: "not found" }
  | { readonly kind: "problem"; readonly code: ProblemCode; readonly detail: string };

/**
 * The statuses that are about what the caller may do, or has sent. The others are about the code, such as a method that a path does not have,
 * or about the state of the service.
 */
export const passedStatuses: readonly number[] = [400, 403, 404, 409, 412, 422];

/**
 * The refusals of one call of a route. An error belongs to them if it has the `Headers` of a response that is noted here. So an error of another
 * client, or of another call, does not.
 */
export class CallerRefusals {
  readonly #noted = new WeakMap<Headers, CallerRefusal>();

  /** Notes the response to a request of the caller. `headers`: those that an error of the client gets. */
  note(headers: Headers, response: InsideResponse): void {
    const refusal = refusalIn(response);
    if (refusal !== undefined) this.#noted.set(headers, refusal);
  }

  /** The refusal that an error is about; `undefined` for every other value. */
  of(thrown: unknown): CallerRefusal | undefined {
    const headers = thrown instanceof Error && "headers" in thrown ? thrown.headers : undefined;
    return headers instanceof Headers ? this.#noted.get(headers) : undefined;
  }
}

/**
 * The refusal in a response; `undefined` if it has none, as that of another route can. The violations of a problem stay out: they point into a
 * request that the caller of the route has not sent.
 */
function refusalIn({ status, body = "" }: InsideResponse): CallerRefusal | undefined {
  if (!passedStatuses.includes(status)) return undefined;
  if (status === 404) return { kind: "not found" };
  const { code, detail } = membersIn(body);
  return isCodeOf(status, code) && typeof detail === "string" ? { kind: "problem", code, detail } : undefined;
}

function isCodeOf(status: number, code: unknown): code is ProblemCode {
  return (
    typeof code === "string" &&
    Object.hasOwn(problems, code) &&
    problems[code as ProblemCode].status === status
  );
}

function membersIn(body: string): { readonly code?: unknown; readonly detail?: unknown } {
  try {
    return Object(JSON.parse(body));
  } catch {
    return {};
  }
}
