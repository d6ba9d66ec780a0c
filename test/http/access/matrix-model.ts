/** The model of the access matrix: collections with every kind of rule, and what each caller may, as the reference describes the rules. */
import {
  type AccessDeclaration,
  type Action,
  actions,
  owner,
  type Rule,
} from "../../../src/access/access-declaration.ts";
import { type Caller, callers } from "./callers.ts";

/** Collections with every kind of rule; `undefined` has none. */
export const collections: Readonly<Record<string, AccessDeclaration | undefined>> = {
  plain: undefined,
  shut: {},
  world: { read: "public", write: "public" },
  members: { read: "authenticated", write: "authenticated" },
  nobodys: { read: "public", write: "nobody" },
  editors: { read: "public", write: { role: "editor" } },
  owned: { read: owner("authorId"), write: owner("authorId") },
  shared: { read: "authenticated", write: [owner("authorId"), { role: "editor" }] },
  partly: {
    list: "nobody",
    read: "authenticated",
    create: "authenticated",
    update: owner("authorId"),
    delete: { role: "editor" },
  },
  drafts: { read: { where: { authorId: "ada" } }, write: "authenticated" },
  both: { read: "public", write: { role: "editor", where: { authorId: "ada" } } },
  dropped: { create: "public" },
  changed: { read: "authenticated", update: { role: "editor" } },
  articles: { read: owner("authorId"), write: [owner("authorId"), { role: "editor" }] },
  tenants: { read: { where: { tenant: { ne: "$claims.tenant" } } }, write: "authenticated" },
};

/** All callers; `undefined` has no credential. */
export const who = [undefined, ...(Object.keys(callers) as Caller[])];

/** The owners of the resources. */
export const owners = ["ada", "bob"] as const;

interface Known {
  sub: string;
  roles: readonly string[];
  scope: string | undefined;
}

export function knownAs(caller: Caller | undefined): Known | undefined {
  if (caller === undefined) return undefined;
  const {
    sub,
    roles = [],
    scope,
  }: { sub: string; roles?: readonly string[]; scope?: string } = callers[caller];
  return { sub, roles, scope };
}

/** Whether one rule allows a caller to use a resource. `authorId` of `undefined`: any resource. */
function lets(rule: Rule, caller: Known | undefined, authorId: string | undefined): boolean {
  if (rule === "public") return true;
  if (rule === "authenticated") return caller !== undefined;
  if (rule === "nobody") return false;
  if ("role" in rule && caller?.roles.includes(rule.role) !== true) return false;
  const { authorId: wanted, tenant } = rule.where ?? {};
  if (tenant !== undefined) return false; // no token here has that claim
  const subject = wanted === "$subject" ? caller?.sub : wanted;
  if (wanted === undefined) return true;
  return subject !== undefined && (authorId === undefined || authorId === subject);
}

export function may(
  name: string,
  action: Action,
  caller: Known | undefined,
  authorId: string | undefined,
): boolean {
  const access = collections[name];
  const shorthand = action === "list" || action === "read" ? "read" : "write";
  const declared = access === undefined ? "authenticated" : (access[action] ?? access[shorthand] ?? "nobody");
  const rules = Array.isArray(declared) ? (declared as Rule[]) : [declared as Rule];
  const isAllowed = rules.some((rule) => lets(rule, caller, authorId));
  return isAllowed && (action !== "list" || may(name, "read", caller, authorId));
}

export const inScope = (name: string, action: Action, caller: Known | undefined) =>
  caller?.scope === undefined ||
  caller.scope === `${name}:${action === "list" || action === "read" ? "read" : "write"}`;

/** `go`: as if there were no rules. */
export type Expected = "go" | 401 | 403 | 404;

/** Whether every request with this credential is refused. */
export const isRefused = (caller: Caller | undefined) => caller === "bad" || caller === "expired";

export function expected(
  name: string,
  actions: readonly Action[],
  caller: Caller | undefined,
  authorId?: string,
): Expected {
  if (isRefused(caller)) return 401;
  const known = knownAs(caller);
  const refused = known === undefined ? 401 : 403;
  const some = actions.some((action) => may(name, action, known, undefined) && inScope(name, action, known));
  if (!some) return refused;
  const [action] = actions;
  if (authorId === undefined || action === undefined || action === "list") return "go";
  if (action !== "create" && !may(name, "read", known, authorId)) return 404;
  return may(name, action, known, authorId) && inScope(name, action, known) ? "go" : refused;
}

/**
 * The response to a write by a unique key. A PUT for a resource that the caller cannot see would create it. The precondition that
 * fails comes first.
 */
export function expectedByKey(
  name: string,
  method: string,
  caller: Caller | undefined,
  authorId: string,
): Expected {
  const action = method === "DELETE" ? "delete" : "update";
  if (method !== "PUT") return expected(name, [action], caller, authorId);
  const any = expected(name, ["create", action], caller);
  if (any !== "go") return any;
  return may(name, "read", knownAs(caller), authorId)
    ? expected(name, [action], caller, authorId)
    : expected(name, ["create"], caller);
}

export const seeds = owners.map((authorId) => ({
  id: `of-${authorId}`,
  slug: `of-${authorId}`,
  authorId,
  tenant: "t1",
}));
/** Resources to which no other resource ever refers, so that they can be deleted. */
export const unreferenced = owners.map((authorId) => ({ id: `alone-${authorId}`, authorId, tenant: "t1" }));

/** Resources that refer to others of their collection, and have a unique key. */
export const referring = (name: string) => ({
  schema: {
    type: "object",
    properties: { parentId: { type: "string" }, slug: { type: "string", maxLength: 100 } },
    additionalProperties: true,
  },
  unique: ["slug"],
  references: { parentId: { collection: name, as: "parent", inverse: "children" } },
});

/**
 * The actions of which a caller needs one, with any resource of the collection, to use a path and method in it. The handler decides about
 * the individual resources.
 */
export function actionsOf(path: string, method: string, action: string): readonly Action[] {
  if (path === "/{collection}/_bulk") return ["update", "delete"];
  if (path === "/{collection}/_deleted/_restore") return ["create"];
  if (path === "/{collection}/{id}/_restore") return ["update", "create"];
  if (path === "/{collection}" && method === "PUT") return ["create", "update"];
  return [action as Action];
}

/** Whether a caller can write any resource of a collection. */
export const mayWrite = (name: string, caller: Caller | undefined): boolean =>
  expected(name, ["create", "update", "delete"], caller) === "go";

/**
 * What the rules say about a caller and a resource: all that a handler can learn from its guard. Two cases with the same situation have
 * the same response.
 */
export function situationOf(name: string, caller: Caller | undefined, authorId: string): string {
  const known = knownAs(caller);
  if (isRefused(caller)) return String(caller);
  const decisions = actions.map((action) => [
    inScope(name, action, known),
    may(name, action, known, undefined),
    may(name, action, known, authorId),
  ]);
  return JSON.stringify([known === undefined, decisions]);
}
