/**
 * Tests every route, method and kind of caller with every kind of rule. A small model computes the expected responses from the
 * declared rules. A new route or method has no row here, and the test fails until it has one.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type AccessDeclaration, owner, type Rule } from "../../../src/access/access-declaration.ts";
import { endpointTable } from "../../../src/http/endpoints/endpoint-table.ts";
import { type Request, startServiceForFile } from "../service.ts";
import { auth, type Caller, callers, outcome, sendAs } from "./callers.ts";

type Action = "list" | "read" | "create" | "update" | "delete";

/** The methods of each path of the table of endpoints. */
const methodsOfAll = Object.fromEntries(endpointTable.paths.map(({ template, allow }) => [template, allow]));

/** The paths of people who sign in. This service has none of them, because it has no users. */
const ofPeople = endpointTable.paths.filter(({ template }) =>
  /^\/_(?:auth|accounts|audit|invitations|mails)\b/.test(template),
);

/** The documents that need no caller, each with a path and the status of a GET. */
const documents: Readonly<Record<string, readonly [path: string, status: number]>> = {
  "/livez": ["/livez", 200],
  "/readyz": ["/readyz", 200],
  "/healthz": ["/healthz", 200],
  "/problems/{slug}": ["/problems/unavailable", 200],
  "/openapi.json": ["/openapi.json", 200],
  "/openapi-3.2.json": ["/openapi-3.2.json", 200],
  "/asyncapi.json": ["/asyncapi.json", 200],
  "/.well-known/api-catalog": ["/.well-known/api-catalog", 200],
  "/docs": ["/docs", 200],
  "/docs/{file}": ["/docs/none.js", 404],
};

/** The action of each method of each route. */
const rows: Readonly<
  Record<
    string,
    | Action
    | "anybody"
    | "each operation"
    | "each selected resource"
    | "each collection"
    | "own tasks"
    | "administration"
  >
> = {
  "/{collection} GET": "list",
  "/{collection} HEAD": "list",
  "/{collection} QUERY": "list",
  "/{collection} POST": "create",
  "/{collection} PUT": "update",
  "/{collection} PATCH": "update",
  "/{collection} DELETE": "delete",
  "/{collection} OPTIONS": "anybody",
  "/{collection}/{id}/{relation} GET": "list",
  "/{collection}/{id}/{relation} HEAD": "list",
  "/{collection}/{id}/{relation} QUERY": "list",
  "/{collection}/{id}/{relation} POST": "create",
  "/{collection}/{id}/{relation} OPTIONS": "anybody",
  "/{collection}/{id} GET": "read",
  "/{collection}/{id} HEAD": "read",
  "/{collection}/{id} PUT": "update",
  "/{collection}/{id} PATCH": "update",
  "/{collection}/{id} DELETE": "delete",
  "/{collection}/{id} OPTIONS": "anybody",
  "/{collection}/{id}/_changes GET": "read",
  "/{collection}/{id}/_changes HEAD": "read",
  "/{collection}/{id}/_changes OPTIONS": "anybody",
  "/{collection}/_events GET": "list",
  "/{collection}/_events HEAD": "list",
  "/{collection}/_events OPTIONS": "anybody",
  "/_events GET": "each collection",
  "/_events HEAD": "each collection",
  "/_events OPTIONS": "anybody",
  "/{collection}/_bulk POST": "each selected resource",
  "/{collection}/_bulk OPTIONS": "anybody",
  "/{collection}/_deleted GET": "list",
  "/{collection}/_deleted HEAD": "list",
  "/{collection}/_deleted QUERY": "list",
  "/{collection}/_deleted OPTIONS": "anybody",
  "/{collection}/_deleted/_restore POST": "each selected resource",
  "/{collection}/_deleted/_restore OPTIONS": "anybody",
  "/{collection}/{id}/_restore POST": "update",
  "/{collection}/{id}/_restore OPTIONS": "anybody",
  "/_collections GET": "each collection",
  "/_collections HEAD": "each collection",
  "/_collections OPTIONS": "anybody",
  "/_access POST": "each collection",
  "/_access OPTIONS": "anybody",
  "/ GET": "each collection",
  "/ HEAD": "each collection",
  "/ OPTIONS": "anybody",
  ...Object.fromEntries(
    Object.keys(documents).flatMap((path) =>
      ["GET", "HEAD", "OPTIONS"].map((method) => [`${path} ${method}`, "anybody"] as const),
    ),
  ),
  "/metrics GET": "administration",
  "/metrics HEAD": "administration",
  "/metrics OPTIONS": "administration",
  "/_batch POST": "each operation",
  "/_batch OPTIONS": "anybody",
  "/_webhooks/{id}/_status GET": "administration",
  "/_webhooks/{id}/_status HEAD": "administration",
  "/_webhooks/{id}/_status OPTIONS": "administration",
  "/_webhooks/{id}/_deliveries GET": "administration",
  "/_webhooks/{id}/_deliveries HEAD": "administration",
  "/_webhooks/{id}/_deliveries OPTIONS": "administration",
  "/_configuration GET": "administration",
  "/_configuration HEAD": "administration",
  "/_configuration OPTIONS": "administration",
  ...Object.fromEntries(
    ofPeople.flatMap(({ template, allow }) =>
      allow.split(", ").map((method) => [`${template} ${method}`, "administration"] as const),
    ),
  ),
  "/_keys GET": "administration",
  "/_keys HEAD": "administration",
  "/_keys POST": "administration",
  "/_keys OPTIONS": "administration",
  "/_keys/{id} GET": "administration",
  "/_keys/{id} HEAD": "administration",
  "/_keys/{id} OPTIONS": "administration",
  "/_keys/{id}/_rotate POST": "administration",
  "/_keys/{id}/_revoke POST": "administration",
  "/_keys/{id}/_rotate OPTIONS": "administration",
  "/_keys/{id}/_revoke OPTIONS": "administration",
  "/_console/{file} GET": "administration",
  "/_console/{file} HEAD": "administration",
  "/_console/{file} OPTIONS": "administration",
  "/.well-known/change-password GET": "administration",
  "/.well-known/change-password HEAD": "administration",
  "/.well-known/change-password OPTIONS": "administration",
  "/_sign-in GET": "administration",
  "/_sign-in HEAD": "administration",
  "/_sign-in OPTIONS": "administration",
  "/_console/first-key POST": "administration",
  "/_console/first-key OPTIONS": "administration",
  "/{collection}/_import POST": "administration",
  "/{collection}/_import OPTIONS": "administration",
  "/_tasks GET": "own tasks",
  "/_tasks HEAD": "own tasks",
  "/_tasks OPTIONS": "anybody",
  "/_tasks/{id} GET": "own tasks",
  "/_tasks/{id} HEAD": "own tasks",
  "/_tasks/{id} DELETE": "own tasks",
  "/_tasks/{id} OPTIONS": "anybody",
  "/_tasks/{id}/_undo POST": "own tasks",
  "/_tasks/{id}/_undo OPTIONS": "anybody",
  "/_rewind POST": "administration",
  "/_rewind OPTIONS": "administration",
  "/_webhooks/{id}/_test POST": "administration",
  "/_webhooks/{id}/_rotate POST": "administration",
  "/_webhooks/{id}/_deliveries/{event}/_retry POST": "administration",
  "/_webhooks/{id}/_test OPTIONS": "administration",
  "/_webhooks/{id}/_rotate OPTIONS": "administration",
  "/_webhooks/{id}/_deliveries/{event}/_retry OPTIONS": "administration",
};

/** Collections with every kind of rule; `undefined` has none. */
const collections: Readonly<Record<string, AccessDeclaration | undefined>> = {
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
  articles: { read: owner("authorId"), write: [owner("authorId"), { role: "editor" }] },
  tenants: { read: { where: { tenant: { ne: "$claims.tenant" } } }, write: "authenticated" },
};

const prefix = "/api/v1";
const who = [undefined, ...(Object.keys(callers) as Caller[])];
const owners = ["ada", "bob"] as const;

// The model: the rules as the reference describes them.

interface Known {
  sub: string;
  roles: readonly string[];
  scope: string | undefined;
}

function knownAs(caller: Caller | undefined): Known | undefined {
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

function may(name: string, action: Action, caller: Known | undefined, authorId: string | undefined): boolean {
  const access = collections[name];
  const shorthand = action === "list" || action === "read" ? "read" : "write";
  const declared = access === undefined ? "authenticated" : (access[action] ?? access[shorthand] ?? "nobody");
  const rules = Array.isArray(declared) ? (declared as Rule[]) : [declared as Rule];
  const isAllowed = rules.some((rule) => lets(rule, caller, authorId));
  return isAllowed && (action !== "list" || may(name, "read", caller, authorId));
}

const inScope = (name: string, action: Action, caller: Known | undefined) =>
  caller?.scope === undefined ||
  caller.scope === `${name}:${action === "list" || action === "read" ? "read" : "write"}`;

/** `go`: as if there were no rules. */
type Expected = "go" | 401 | 403 | 404;

/** Whether every request with this credential is refused. */
const isRefused = (caller: Caller | undefined) => caller === "bad" || caller === "expired";

function expected(
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

// The requests. Writes that are allowed fail at a precondition, so that the resources do not change.

const seeds = owners.map((authorId) => ({
  id: `of-${authorId}`,
  slug: `of-${authorId}`,
  authorId,
  tenant: "t1",
}));
/** Resources to which no other resource ever refers, so that they can be deleted. */
const unreferenced = owners.map((authorId) => ({ id: `alone-${authorId}`, authorId, tenant: "t1" }));

/** Resources that refer to others of their collection, and have a unique key. */
const referring = (name: string) => ({
  schema: {
    type: "object",
    properties: { parentId: { type: "string" }, slug: { type: "string", maxLength: 100 } },
    additionalProperties: true,
  },
  unique: ["slug"],
  references: { parentId: { collection: name, as: "parent", inverse: "children" } },
});

const declared = Object.entries(collections).map(([name, access]) => [name, access && { access }] as const);
const service = await startServiceForFile({
  auth,
  collections: Object.fromEntries(
    declared.map(([name, access]) => [name, { ...referring(name), ...access }]),
  ),
  seeds: Object.fromEntries(declared.map(([name]) => [name, [...seeds, ...unreferenced]])),
});

const stale = { "If-Match": '"0"' };

/** The request of a row for the resource of an owner, and its response without rules. */
interface Sent extends Request {
  method: string;
  go: number;
}

function contentFor(method: string, authorId: string): Pick<Request, "content" | "headers"> {
  if (method === "POST") return { content: { authorId } };
  if (method === "QUERY") return { content: {} };
  if (method === "PUT") return { content: { id: `of-${authorId}`, authorId }, headers: stale };
  if (method === "PATCH") return { content: { authorId }, headers: stale };
  return method === "DELETE" ? { headers: stale } : {};
}

const reads = ["GET", "HEAD", "QUERY"];

/** The methods of a collection that need a unique key in the query. */
const byKey = ["PUT", "PATCH", "DELETE"];

/**
 * The response to a write by a unique key. A PUT for a resource that the caller cannot see would create it. The precondition that
 * fails comes first.
 */
function expectedByKey(name: string, method: string, caller: Caller | undefined, authorId: string): Expected {
  const action = method === "DELETE" ? "delete" : "update";
  if (method !== "PUT") return expected(name, [action], caller, authorId);
  const any = expected(name, ["create", action], caller);
  if (any !== "go") return any;
  return may(name, "read", knownAs(caller), authorId)
    ? expected(name, [action], caller, authorId)
    : expected(name, ["create"], caller);
}

const sentTo: Readonly<Record<string, (method: string, name: string, authorId: string) => Sent[]>> = {
  "/{collection}": (method, name, authorId) =>
    ["", "/"].map((end) => {
      const path = `${prefix}/${name}${end}`;
      const sent = { method, path, ...contentFor(method, authorId), go: method === "POST" ? 201 : 200 };
      if (!byKey.includes(method)) return sent;
      const keyed = { ...sent, path: `${path}?slug=of-${authorId}`, go: 412 };
      return method === "PUT" ? { ...keyed, content: { slug: `of-${authorId}`, authorId } } : keyed;
    }),
  "/{collection}/{id}": (method, name, authorId) =>
    ["", "/", ...(reads.includes(method) ? ["?version=1", "?at=2100-01-01", "?fields=authorId"] : [])].map(
      (end) => ({
        method,
        path: `${prefix}/${name}/of-${authorId}${end}`,
        ...contentFor(method, authorId),
        go: reads.includes(method) ? 200 : 412,
      }),
    ),
  "/{collection}/{id}/{relation}": (method, name, authorId) =>
    ["", "/"].map((end) => ({
      method,
      path: `${prefix}/${name}/of-${authorId}/children${end}`,
      ...contentFor(method, authorId),
      go: method === "POST" ? 201 : 200,
    })),
  "/{collection}/{id}/_changes": (method, name, authorId) => [
    { method, path: `${prefix}/${name}/of-${authorId}/_changes`, go: 200 },
    { method, path: `${prefix}/${name}/of-${authorId}/_changes?limit=1`, go: 200 },
  ],
  "/{collection}/_events": (method, name) =>
    ["", "/", "?since=start&limit=2"].map((end) => ({
      method,
      path: `${prefix}/${name}/_events${end}`,
      go: 200,
    })),
  "/_events": (method) => [{ method, path: `${prefix}/_events`, go: 200 }],
  "/{collection}/{id}/_restore": (method, name, authorId) => [
    {
      method,
      path: `${prefix}/${name}/of-${authorId}/_restore`,
      content: { version: 1 },
      headers: stale,
      go: 412,
    },
  ],
  "/{collection}/_bulk": (method, name) =>
    ["", "/"].map((end) => ({ method, path: `${prefix}/${name}/_bulk${end}`, go: 200 })),
  "/{collection}/_deleted": (method, name) =>
    (method === "QUERY" ? ["", "/"] : ["", "/", "?limit=1"]).map((end) => ({
      method,
      path: `${prefix}/${name}/_deleted${end}`,
      ...(method === "QUERY" && { content: {} }),
      go: 200,
    })),
  "/{collection}/_deleted/_restore": (method, name) => [
    { method, path: `${prefix}/${name}/_deleted/_restore`, content: { all: true, max: 1 }, go: 200 },
  ],
  "/_collections": (method) =>
    ["", "/", "?limit=1"].map((end) => ({ method, path: `${prefix}/_collections${end}`, go: 200 })),
  "/_access": (method) => [
    { method, path: `${prefix}/_access`, content: { collection: "plain", operation: "read" }, go: 200 },
  ],
  "/": (method) => ["", "/"].map((end) => ({ method, path: `${prefix}${end}`, go: 200 })),
  ...Object.fromEntries(
    Object.entries(documents).map(([template, [path, go]]) => [
      template,
      (method: string) => [{ method, path, go }],
    ]),
  ),
  // This service has no administrators, so these paths do not exist.
  "/{collection}/_import": (method, name) =>
    ["", "?dryRun=true"].map((end) => ({
      method,
      path: `${prefix}/${name}/_import${end}`,
      content: [],
      go: 404,
    })),
  "/_configuration": (method) => [{ method, path: `${prefix}/_configuration`, go: 404 }],
  ...Object.fromEntries(
    ofPeople.map(({ template }) => [
      template,
      (method: string) => [
        {
          method,
          path: prefix + template.replaceAll(/\{.*?\}/g, "1"),
          ...(method === "POST" && { content: {} }),
          go: 404,
        },
      ],
    ]),
  ),
  "/_keys": (method) => [{ method, path: `${prefix}/_keys`, content: { name: "a" }, go: 404 }],
  "/_keys/{id}": (method) => [{ method, path: `${prefix}/_keys/hf_00000000`, go: 404 }],
  "/_keys/{id}/_rotate": (method) => [{ method, path: `${prefix}/_keys/hf_00000000/_rotate`, go: 404 }],
  "/_keys/{id}/_revoke": (method) => [{ method, path: `${prefix}/_keys/hf_00000000/_revoke`, go: 404 }],
  // This service has no console, and no link was printed.
  "/_console/{file}": (method) => [{ method, path: "/_console/none.js", go: 404 }],
  // Nor has it users.
  "/.well-known/change-password": (method) => [{ method, path: "/.well-known/change-password", go: 404 }],
  "/_sign-in": (method) => [{ method, path: "/_sign-in", go: 404 }],
  "/_console/first-key": (method) => [
    { method, path: "/_console/first-key", content: { token: "a" }, go: 404 },
  ],
  "/metrics": (method) => [{ method, path: "/metrics", go: 404 }],
  "/_webhooks/{id}/_status": (method) => [{ method, path: `${prefix}/_webhooks/1/_status`, go: 404 }],
  "/_webhooks/{id}/_deliveries": (method) => [{ method, path: `${prefix}/_webhooks/1/_deliveries`, go: 404 }],
  "/_webhooks/{id}/_test": (method) => [{ method, path: `${prefix}/_webhooks/1/_test`, go: 404 }],
  "/_webhooks/{id}/_rotate": (method) => [{ method, path: `${prefix}/_webhooks/1/_rotate`, go: 404 }],
  "/_webhooks/{id}/_deliveries/{event}/_retry": (method) => [
    { method, path: `${prefix}/_webhooks/1/_deliveries/1/_retry`, go: 404 },
  ],
  "/_rewind": (method) => [{ method, path: `${prefix}/_rewind`, content: { to: "2026-01-31" }, go: 404 }],
  "/_tasks": (method) => [{ method, path: `${prefix}/_tasks`, go: 200 }],
  "/_tasks/{id}": (method) => [{ method, path: `${prefix}/_tasks/1`, go: 404 }],
  "/_tasks/{id}/_undo": (method) => [{ method, path: `${prefix}/_tasks/1/_undo`, go: 404 }],
  "/_batch": (method) => [{ method, path: `${prefix}/_batch`, content: { operations: [] }, go: 200 }],
};

/** The requests of a row for each collection and owner. Each is there once: many have no collection or no owner. */
function requestsOf(path: string, method: string) {
  const all = Object.keys(collections).flatMap((name) =>
    owners.flatMap((authorId) =>
      (sentTo[path]?.(method, name, authorId) ?? []).map((sent) => ({ name, authorId, sent })),
    ),
  );
  return new Map(all.map((each) => [JSON.stringify(each.sent), each])).values();
}

/** Sends the request as each caller, and compares the responses with the model. */
async function compare(sent: Sent, expectedFor: (caller: Caller | undefined) => Expected): Promise<void> {
  for (const caller of who) {
    const answer = await sendAs(service, caller, sent);
    const should = expectedFor(caller);
    const status = should === "go" ? sent.go : should;
    assert.equal(answer.status, status, `${caller} ${sent.method} ${sent.path}: ${outcome(answer)}`);
    const isChallenged = status === 401 || status === 403;
    assert.equal(answer.headers["www-authenticate"] !== undefined, isChallenged);
  }
}

test("every route and method has a row, and every row has a route", () => {
  const declared = Object.entries(methodsOfAll).flatMap(([path, methods]) =>
    methods.split(", ").map((method) => `${path} ${method}`),
  );
  assert.deepEqual(Object.keys(rows).sort(), declared.sort());
  assert.deepEqual(Object.keys(sentTo).sort(), Object.keys(methodsOfAll).sort());
});

/** What anybody can do, and HEAD, which is GET without content, need no store: on PostgreSQL they are left out. */
const tested = Object.entries(rows).filter(
  ([row, action]) =>
    process.env.HOLDFAST_TEST_STORE !== "postgres" || (action !== "anybody" && !row.endsWith(" HEAD")),
);

describe("what each caller may", () => {
  for (const [row, action] of tested) {
    const [path = "", method = ""] = row.split(" ");
    test(`${row}: ${action}`, async () => {
      for (const { name, authorId, sent } of requestsOf(path, method)) {
        if (action === "administration") {
          await compare(sent, () => "go");
        } else if (action === "anybody") {
          const go = method === "OPTIONS" ? 204 : sent.go;
          await compare({ ...sent, go }, () => "go");
        } else if (action === "each collection") {
          await compare(sent, (caller) => (isRefused(caller) ? 401 : "go"));
        } else if (path === "/{collection}" && byKey.includes(method)) {
          await compare(sent, (caller) => expectedByKey(name, method, caller, authorId));
        } else if (action === "own tasks") {
          await compare(sent, (caller) => (caller === undefined || isRefused(caller) ? 401 : "go"));
        } else if (path === "/{collection}/{id}/{relation}") {
          // The caller must also be able to read the parent.
          const asked = action as Action;
          await compare(sent, (caller) => {
            const all = [
              expected(name, ["read"], caller),
              expected(name, [asked], caller),
              expected(name, ["read"], caller, authorId),
              expected(name, [asked], caller, authorId),
            ];
            return all.find((each) => each !== "go") ?? "go";
          });
        } else if (action !== "each operation" && action !== "each selected resource") {
          const actions: Action[] = path === "/{collection}/{id}/_restore" ? [action, "create"] : [action];
          await compare(sent, (caller) => expected(name, actions, caller, authorId));
        }
      }
    });
  }

  test("each operation of a batch", async () => {
    for (const name of Object.keys(collections)) {
      for (const authorId of owners) {
        for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
          const { content: body, headers = {} } = contentFor(method, authorId);
          const path = method === "POST" ? `/${name}` : `/${name}/of-${authorId}`;
          const content = {
            operations: [{ method, path, headers, ...(body === undefined ? {} : { body }) }],
          };
          const action = ({ POST: "create", DELETE: "delete" } as const)[method] ?? "update";
          const go = method === "POST" ? 200 : 412;
          await compare({ method: "POST", path: `${prefix}/_batch`, content, go }, (caller) => {
            const alone = expected(name, [action], caller, authorId);
            return alone === 404 ? (400 as Expected) : alone;
          });
        }
      }
    }
  });

  test("each selected resource of a bulk change: its number is that of the caller's list", async () => {
    const path = (name: string) => `${prefix}/${name}/_bulk`;
    for (const [action, content] of [
      ["update", { patch: { title: "x" } }],
      ["delete", { delete: true }],
    ] as const)
      for (const name of Object.keys(collections))
        for (const caller of who) {
          // All callers know these ids. Other tests create further resources.
          const filter = { id: { in: unreferenced.map(({ id }) => id) } };
          const sent = { filter, ...content, max: 1_000, dryRun: true };
          const request = { method: "POST", path: path(name), content: sent };
          const answer = await sendAs(service, caller, request);
          const told = answer.json as { matched?: number; resource?: string };
          const what = `${caller} ${action} ${name}: ${answer.text}`;
          const both = [expected(name, ["list"], caller), expected(name, [action], caller)] as const;
          const refused = both.find((each) => each !== "go");
          if (refused !== undefined) {
            assert.deepEqual([answer.status, told.resource], [refused, undefined], what);
            continue;
          }
          const known = knownAs(caller);
          const listed = owners.filter((authorId) => may(name, "list", known, authorId));
          const forbidden = listed.find((authorId) => !may(name, action, known, authorId));
          if (forbidden === undefined) {
            const { matched, ...rest } = answer.json as Record<string, unknown>;
            const ids = listed.map((authorId) => `alone-${authorId}`);
            assert.deepEqual([answer.status, matched], [200, listed.length], what);
            assert.deepEqual(rest, { changed: listed.length, dryRun: true, ids }, what);
          } else {
            const resource = `${prefix}/${name}/alone-${forbidden}`;
            assert.deepEqual(
              [answer.status, told.resource],
              [known === undefined ? 401 : 403, resource],
              what,
            );
          }
          // A request that matches at least the caller's list, and a request that returns the number.
          const one = await sendAs(service, caller, { ...request, content: { ...sent, max: 1 } });
          if (listed.length > 1) {
            assert.equal(outcome(one), "409 TOO_MANY_MATCHES", what);
            assert.equal((one.json as { matched: number }).matched, listed.length, what);
          } else assert.equal(one.status, answer.status, what);
        }
  });

  test("each selected resource of a restore of many: all of them, or the first that is refused", async () => {
    for (const name of Object.keys(collections)) {
      const content = { filter: { authorId: "nobody" }, max: 1, dryRun: true };
      const path = `${prefix}/${name}/_deleted/_restore`;
      await compare({ method: "POST", path, content, go: 200 }, (caller) => {
        const all = (["list", "delete", "create"] as const).map((each) => expected(name, [each], caller));
        return all.find((each) => each !== "go") ?? "go";
      });
    }
  });

  test("the list of collections", async () => {
    for (const caller of who.filter((each) => !isRefused(each))) {
      const { json } = await sendAs(service, caller, { path: prefix });
      const listed = (json as { collections: { name: string }[] }).collections.map(({ name }) => name);
      const names = Object.keys(collections).filter((name) => expected(name, ["list"], caller) === "go");
      assert.deepEqual(listed, names.sort(), caller ?? "anybody");
    }
  });

  test("the answers to questions about access", async () => {
    const ask = async (caller: Caller | undefined, content: object) => {
      const answer = await sendAs(service, caller, { method: "POST", path: `${prefix}/_access`, content });
      assert.equal(answer.status, 200, answer.text);
      return answer.json as { allowed: boolean; id?: string };
    };
    for (const name of Object.keys(collections))
      for (const operation of ["list", "read", "create", "update", "delete"] as const)
        for (const caller of who.filter((each) => !isRefused(each))) {
          const what = `${caller} ${operation} ${name}`;
          const any = await ask(caller, { collection: name, operation });
          assert.equal(any.allowed, expected(name, [operation], caller) === "go", what);
          if (operation === "create") continue;
          const absent = await ask(caller, { collection: name, operation, id: "none" });
          assert.equal(absent.allowed, false, what);
          for (const authorId of owners) {
            const id = `of-${authorId}`;
            const one = await ask(caller, { collection: name, operation, id });
            const known = knownAs(caller);
            const isAllowed: boolean = expected(name, [operation], caller, authorId) === "go";
            const isListed: boolean = operation !== "list" || may(name, "list", known, authorId);
            assert.equal(one.allowed, isAllowed && isListed, `${what} ${id}`);
            // A resource that the caller cannot see gets the same answer as one that does not exist.
            if (!may(name, "read", known, authorId)) assert.deepEqual({ ...one, id: "none" }, absent, what);
          }
        }
  });

  test("the collections of a feed", async () => {
    for (const caller of who.filter((each) => !isRefused(each))) {
      const { json } = await sendAs(service, caller, { path: `${prefix}/_events?limit=1000` });
      const seen = new Set(
        (json as { source: string }[]).map(({ source }) => source.slice(prefix.length + 1)),
      );
      const names = Object.keys(collections).filter((name) =>
        owners.some(
          (authorId) =>
            expected(name, ["list"], caller) === "go" && may(name, "list", knownAs(caller), authorId),
        ),
      );
      assert.deepEqual([...seen].sort(), names.sort(), caller ?? "anybody");
    }
  });

  test("a named collection of a feed", async () => {
    for (const name of Object.keys(collections))
      await compare(
        { method: "GET", path: `${prefix}/_events?collection=world,${name}`, go: 200 },
        (caller) => {
          const alone = expected(name, ["list"], caller);
          return alone === "go" ? expected("world", ["list"], caller) : alone;
        },
      );
  });

  test("the resources of a list", async () => {
    for (const name of Object.keys(collections)) {
      for (const caller of who) {
        if (expected(name, ["list"], caller) !== "go") continue;
        const known = knownAs(caller);
        const readable = owners.filter((authorId) => may(name, "list", known, authorId));
        for (const query of [
          "limit=1000",
          "limit=1000&sort=-authorId",
          "id=of-ada&id=of-bob",
          "_start=0&_end=1000",
        ]) {
          const { json } = await sendAs(service, caller, { path: `${prefix}/${name}?${query}` });
          const listed = json as { id: string; authorId: string }[];
          const found = listed.filter(({ id }) => id.startsWith("of-")).map(({ authorId }) => authorId);
          assert.deepEqual(found.sort(), [...readable], `${caller} ${name}${query}`);
          assert.ok(listed.every(({ authorId }) => readable.includes(authorId as "ada" | "bob")));
        }
      }
    }
  });
});

describe("what is nothing to anybody", () => {
  const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "QUERY", "OPTIONS"];

  test("a path in other letters", async () => {
    for (const method of methods) {
      for (const path of [`${prefix}/World`, `${prefix}/WORLD/of-ada`, "/API/v1/world", `${prefix}/_Batch`]) {
        const sent = { method, path, ...contentFor(method, "ada"), go: 404 };
        await compare(sent, () => "go");
      }
    }
  });

  test("a method that a route does not have", async () => {
    for (const [path, allowed] of Object.entries(methodsOfAll)) {
      for (const method of methods.filter((each) => !allowed.split(", ").includes(each))) {
        const [sent] = sentTo[path]?.(method, "world", "ada") ?? [];
        const go = rows[`${path} OPTIONS`] === "administration" ? 404 : 405;
        if (sent !== undefined) await compare({ ...sent, go }, () => "go");
      }
    }
  });

  test("a method in a header", async () => {
    const headers = {
      "X-HTTP-Method-Override": "DELETE",
      "X-HTTP-Method": "DELETE",
      "X-Method-Override": "DELETE",
    };
    const path = `${prefix}/world/of-ada`;
    await compare({ method: "GET", path, headers, go: 200 }, (caller) =>
      expected("world", ["read"], caller, "ada"),
    );
  });
});
