/**
 * Compares all decisions about access with a small model: each route and method with each caller and each kind of rule, and each action with
 * each resource. It calls what a request calls: the rules, the table of endpoints and the guard. `matrix.both.all.test.ts` sends requests.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Access, compileAccess } from "../../../src/access/access.ts";
import { actions } from "../../../src/access/access-declaration.ts";
import type { Principal } from "../../../src/access/principal.ts";
import { readRules } from "../../../src/access/rules.ts";
import { createTags } from "../../../src/access/tags.ts";
import type { JwtSettings } from "../../../src/capabilities/tokens/settings.ts";
import { Tokens } from "../../../src/capabilities/tokens/tokens.ts";
import type { Collection } from "../../../src/collection/collection.ts";
import { defineCollection } from "../../../src/collection/declaration.ts";
import { withRelations } from "../../../src/collection/relations.ts";
import { Problem } from "../../../src/errors.ts";
import { guardOf, requireUse } from "../../../src/http/caller/permission.ts";
import type { HttpRequest } from "../../../src/http/protocol/message.ts";
import type { Route } from "../../../src/http/route.ts";
import type { Callers, EndpointMethod, EndpointPath } from "../../../src/http/service.ts";
import { readUniqueWhere } from "../../../src/query/unique-values.ts";
import { machineTime } from "../../until.ts";
import { endpointTable } from "../endpoint-table.ts";
import { auth, type Caller, callers, tokenFor } from "./callers.ts";
import {
  actionsOf,
  collections,
  type Expected,
  expected,
  inScope,
  isRefused,
  knownAs,
  may,
  mayWrite,
  referring,
  seeds,
} from "./matrix-model.ts";
import { methodsOfAll, rows, sentTo } from "./matrix-rows.ts";

const tokens = await Tokens.open({
  settings: auth.jwt as JwtSettings,
  now: machineTime,
  elapsed: () => performance.now(),
  warn: assert.fail,
});

const accepted = (Object.keys(callers) as Caller[]).filter((caller) => !isRefused(caller));
const principals = new Map<Caller | undefined, Principal | undefined>([[undefined, undefined]]);
for (const caller of accepted) principals.set(caller, await tokens.principalOf(tokenFor(caller)));

/** A service with one collection. Callers with the role `hr` administer it if it has administrators. */
interface OneCollection {
  service: Callers & { endpoints: typeof endpointTable; access: Access };
  collection: Collection;
}

async function serviceWith(name: string, hasAdministrators = false): Promise<OneCollection> {
  const defined = await defineCollection(name, referring(name), readUniqueWhere);
  const rules = readRules(collections[name], `collections.${name}.access`, () => defined);
  const all = withRelations(new Map([[name, defined]]));
  const access = compileAccess(all, new Map([[name, rules]]), {
    openCollections: false,
    administrators: hasAdministrators ? [{ role: "hr" }] : [],
  });
  const tags = createTags(() => Buffer.alloc(32));
  return { service: { access, tags, endpoints: endpointTable }, collection: all.get(name) as Collection };
}

/** The route of a path of the table. */
function routeTo(endpoint: EndpointPath, collection: Collection): Route {
  if (!endpoint.template.startsWith("/{collection}")) return { kind: "own", endpoint, names: {}, query: "" };
  const relation = collection.relations.get("children");
  assert.ok(relation);
  const nested = { parent: collection, relation, path: "" };
  const route = { kind: "collection", endpoint, collection, path: "", id: "", query: "" } as const;
  return endpoint.isNested ? { ...route, nested } : route;
}

/** What a caller gets where a request asks for an endpoint: the endpoint, or the status of a refusal. */
function used(
  { service, collection }: OneCollection,
  endpoint: EndpointPath,
  caller: Caller | undefined,
  request: Pick<HttpRequest, "method" | "headers">,
): EndpointMethod | number {
  try {
    const from = { principal: principals.get(caller), quota: undefined };
    // The step reads nothing else of a request.
    return requireUse(service, routeTo(endpoint, collection), from, request as HttpRequest);
  } catch (error) {
    if (error instanceof Problem) return error.status;
    throw error;
  }
}

/** Paths that are not there without users or a console. Where they are, everybody can use them. */
const forEverybody = /^\/(?:_auth|_console|_sign-in|\.well-known\/change-password)\b/;

/** Whether a path exists for administrators alone. */
const isForAdministrators = (path: string, method: string) =>
  rows[`${path} ${method}`] === "administration" && !forEverybody.test(path);

/** What the model says of a path and method, before a resource is known, in a service without administrators. */
function expectedUse(path: string, method: string, name: string, caller: Caller | undefined): Expected {
  const row = rows[`${path} ${method}`] ?? "";
  const refused = caller === undefined ? 401 : 403;
  if (row === "each operation") return mayWrite(name, caller) ? "go" : refused;
  if (row === "each selected resource" || actions.some((action) => action === row)) {
    const ofParent = path.endsWith("/{relation}") ? expected(name, ["read"], caller) : "go";
    return ofParent === "go" ? expected(name, actionsOf(path, method, row), caller) : ofParent;
  }
  // Each web page can ask with OPTIONS what a path below the prefix supports. No page reads the metrics.
  const hasPreflight = method === "OPTIONS" && path !== "/metrics";
  return isForAdministrators(path, method) && !hasPreflight ? 404 : "go";
}

test("every route and method has a row, and every row has a route", () => {
  const declared = Object.entries(methodsOfAll).flatMap(([path, methods]) =>
    methods.split(", ").map((method) => `${path} ${method}`),
  );
  assert.deepEqual(Object.keys(rows).sort(), declared.sort());
  assert.deepEqual(Object.keys(sentTo).sort(), Object.keys(methodsOfAll).sort());
});

test("a token with another issuer, and one that has expired, is no caller", async () => {
  for (const caller of ["bad", "expired"] as const)
    await assert.rejects(async () => tokens.principalOf(tokenFor(caller)), { code: "INVALID_TOKEN" });
});

describe("who can use each path and method, before a resource is known", () => {
  for (const name of Object.keys(collections)) {
    test(`in the collection ${name}`, async () => {
      const one = await serviceWith(name);
      for (const endpoint of endpointTable.paths)
        for (const method of endpoint.allow.split(", "))
          for (const caller of principals.keys()) {
            const path = endpoint.template;
            const found = used(one, endpoint, caller, { method, headers: {} });
            const should = expectedUse(path, method, name, caller);
            const own = method === "OPTIONS" ? endpointTable.options : endpoint.methods.get(method);
            const byModel = should === 404 ? endpointTable.absence : should === "go" ? own : should;
            assert.equal(found, byModel, `${caller} ${method} ${path}`);
          }
    });

    test(`in the collection ${name}, a PUT that only creates also lets in who can create`, async () => {
      const one = await serviceWith(name);
      const endpoint = endpointTable.paths.find(({ template }) => template === "/{collection}/{id}");
      assert.ok(endpoint);
      for (const caller of principals.keys())
        for (const [headers, own] of [
          [{ "if-none-match": "*" }, ["create", "update"]],
          [{ "if-none-match": "*", "if-match": '"1"' }, ["update"]],
          [{ "if-none-match": '"1"' }, ["update"]],
        ] as const) {
          const found = used(one, endpoint, caller, { method: "PUT", headers });
          const should = expected(name, own, caller);
          assert.equal(
            typeof found === "number" ? found : "go",
            should,
            `${caller} ${JSON.stringify(headers)}`,
          );
        }
    });
  }

  test("the paths of administrators exist for administrators alone, whatever the rules say", async () => {
    for (const name of ["shut", "world"]) {
      const one = await serviceWith(name, true);
      for (const endpoint of endpointTable.paths)
        for (const method of endpoint.allow.split(", "))
          for (const caller of principals.keys()) {
            const path = endpoint.template;
            if (!isForAdministrators(path, method)) continue;
            const found = used(one, endpoint, caller, { method, headers: {} });
            const own = method === "OPTIONS" ? endpointTable.options : endpoint.methods.get(method);
            const isThere = caller === "hans" || expectedUse(path, method, name, caller) === "go";
            assert.equal(found, isThere ? own : endpointTable.absence, `${caller} ${method} ${path}`);
          }
    }
  });
});

describe("what each caller can do with each resource", () => {
  for (const name of Object.keys(collections))
    test(`of the collection ${name}`, async () => {
      const { service, collection } = await serviceWith(name);
      for (const [caller, principal] of principals) {
        const guard = guardOf(service, collection, { principal, quota: undefined });
        const known = knownAs(caller);
        assert.equal(guard.canRead, expected(name, ["read"], caller) === "go", `${caller} reads`);
        assert.equal(service.access.mayWrite(principal), mayWrite(name, caller), `${caller} writes`);
        for (const action of actions) {
          const any = expected(name, [action], caller);
          assert.equal(guard.can(action), any === "go", `${caller} ${action}`);
          for (const seed of seeds) {
            const { authorId } = seed;
            const what = `${caller} ${action} of ${authorId}`;
            const state = { text: JSON.stringify(seed) };
            const isAllowed = inScope(name, action, known) && may(name, action, known, authorId);
            assert.equal(guard.may(action, state), isAllowed, what);
            assert.equal(guard.sees(state), may(name, "read", known, authorId), what);
            const code = caller === undefined ? "UNAUTHENTICATED" : "INSUFFICIENT_SCOPE";
            if (isAllowed) guard.require(action, state);
            else assert.throws(() => guard.require(action, state), { code }, what);
          }
        }
      }
    });
});
