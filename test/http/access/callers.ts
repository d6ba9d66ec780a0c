/** The callers in the tests of rules. Each has a token of one issuer. */
import { claimsAt, createPair, settingsFor, tokenOf } from "../../access/issuer.ts";
import { machineTime } from "../../until.ts";
import type { Answer, Made, Request, Service, TestAuth } from "../service.ts";

const pair = createPair("EdDSA");

/** The authentication that accepts the tokens of the callers. */
export const auth: TestAuth = { keys: false, jwt: settingsFor([pair]) };

/** The claims of the tokens. */
export const callers = {
  ada: { sub: "ada" },
  bob: { sub: "bob" },
  eve: { sub: "eve", roles: ["editor"] },
  hans: { sub: "hans", roles: ["hr"] },
  /** Ada with a token that has fewer rights. */
  adaReads: { sub: "ada", scope: "articles:read" },
  adaWrites: { sub: "ada", scope: "articles:write" },
  bad: { sub: "ada", iss: "https://elsewhere.example.org/" },
  expired: { sub: "ada", exp: 1_000_000_000 },
} as const satisfies Record<string, Record<string, unknown>>;

/** The name of a caller. */
export type Caller = keyof typeof callers;

const tokens = new Map(
  Object.entries(callers).map(([name, more]) => [name, tokenOf(pair, claimsAt(machineTime(), more))]),
);

/** The token of a caller. */
export function tokenFor(who: Caller): string {
  return tokens.get(who) as string; // each caller has one
}

/** Sends a request as a caller, or without a credential. */
export function sendAs(service: Service, who: Caller | undefined, request: Request): Promise<Answer> {
  if (who === undefined) return service.send(request);
  const authorization = `Bearer ${tokenFor(who)}`;
  return service.send({ ...request, headers: { ...request.headers, Authorization: authorization } });
}

/** Sends a request with a token that has these claims. */
export function sendWith(
  service: Service,
  claims: Record<string, unknown>,
  request: Request,
): Promise<Answer> {
  const authorization = `Bearer ${tokenOf(pair, claimsAt(machineTime(), claims))}`;
  return service.send({ ...request, headers: { ...request.headers, Authorization: authorization } });
}

/** Creates a resource as a caller with the right to do so. */
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

/** The status and the code of a response: `403 INSUFFICIENT_SCOPE`. */
export function outcome({ status, text }: Answer): string {
  const { code } = text.startsWith("{") ? (JSON.parse(text) as { code?: string }) : {};
  return code === undefined ? String(status) : `${status} ${code}`;
}
