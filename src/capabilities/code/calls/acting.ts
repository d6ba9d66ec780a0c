/** The caller of the requests that code sends: `as` of a route, a consumer or a job. */
import type { Principal } from "../../../access/principal.ts";
import { mustBe } from "../../../collection/messages.ts";
import { isObject } from "../../../json/values.ts";

/** A caller with these roles, or the service, which can do everything with every resource. */
export type Acting = { readonly roles: readonly string[] } | "service";

const forms = '"service", or an object with roles, such as { roles: ["editor"] }';

/** Reads `as`; `undefined` if it is left out. Throws StartError. */
export function readActing(value: unknown, place: string): Acting | undefined {
  if (value === undefined || value === "service") return value;
  if (!isObject(value) || Object.keys(value).join() !== "roles") throw mustBe(place, forms, value);
  const { roles } = value;
  const isRole = (role: unknown) => typeof role === "string" && role !== "";
  if (!Array.isArray(roles) || roles.length === 0 || !roles.every(isRole))
    throw mustBe(`${place}.roles`, "a list of names of roles", roles);
  return { roles: [...new Set(roles as string[])] };
}

/**
 * The caller of the requests that code sends. `name`: that of the code, such as `checkout`. As the service, it gets past the access rules and
 * the roles of attributes. Schemas, hooks, unique values, references and read-only attributes hold for it.
 */
export function principalOf(name: string, acting: Acting): Principal {
  const who = { subject: `code:${name}`, claims: {}, scopes: undefined };
  return acting === "service"
    ? { ...who, roles: [], mayDoEverything: true }
    : { ...who, roles: acting.roles };
}
