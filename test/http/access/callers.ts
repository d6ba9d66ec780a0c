/** Whoever asks in the tests of rules: each is known by a token that is their name. */
import type { Principal } from "../../../src/access/principal.ts";
import type { Answer, Made, Request, Service } from "../service.ts";

function known(subject: string, more: Partial<Principal> = {}): Principal {
  return { subject, roles: [], claims: {}, scopes: undefined, ...more };
}

/** Callers by token. */
export const callers = {
  ada: known("ada"),
  bob: known("bob"),
  eve: known("eve", { roles: ["editor"] }),
  /** Ada again, with a credential that is for less. */
  adaReads: known("ada", { scopes: [{ collection: "articles", action: "read" }] }),
  adaWrites: known("ada", { scopes: [{ collection: "articles", action: "write" }] }),
} as const satisfies Record<string, Principal>;

/** The name of a caller. */
export type Caller = keyof typeof callers;

/** Sends a request as somebody, or without a credential. */
export function sendAs(service: Service, who: Caller | undefined, request: Request): Promise<Answer> {
  if (who === undefined) return service.send(request);
  return service.send({ ...request, headers: { ...request.headers, Authorization: `Bearer ${who}` } });
}

/** Creates a resource as somebody who may. */
export async function createAs(
  service: Service,
  who: Caller,
  collection: string,
  content: Record<string, unknown>,
): Promise<Made> {
  const path = `/api/v1/${collection}`;
  const answer = await sendAs(service, who, { method: "POST", path, content });
  if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`);
  const id = String(answer.headers.location).slice(path.length + 1);
  return { id, path: `${path}/${id}`, body: answer.text === "" ? {} : (answer.json as Made["body"]) };
}

/** Status and code of an answer: `403 INSUFFICIENT_SCOPE`. */
export function outcome({ status, text }: Answer): string {
  const { code } = text.startsWith("{") ? (JSON.parse(text) as { code?: string }) : {};
  return code === undefined ? String(status) : `${status} ${code}`;
}
