/**
 * Every route, method and kind of caller, for every kind of rule: what comes of it is computed from the declared rules by a
 * small reading of its own. A route or a method that is new has no row here, and the test fails until it has one.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type AccessDeclaration, owner, type Rule } from "../../../src/access/declaration.ts";
import { methodsOf } from "../../../src/http/route.ts";
import { type Request, type Service, startService } from "../service.ts";
import { auth, type Caller, callers, outcome, sendAs } from "./callers.ts";

type Action = "list" | "read" | "create" | "update" | "delete";
type Kind = keyof typeof methodsOf;

/** The action that each method of each route is, or who is asked nothing. */
const rows: Readonly<
  Record<string, Action | "anybody" | "each operation" | "each collection" | "administration">
> = {
  "collection GET": "list",
  "collection HEAD": "list",
  "collection QUERY": "list",
  "collection POST": "create",
  "collection OPTIONS": "anybody",
  "resource GET": "read",
  "resource HEAD": "read",
  "resource PUT": "update",
  "resource PATCH": "update",
  "resource DELETE": "delete",
  "resource OPTIONS": "anybody",
  "changes GET": "read",
  "changes HEAD": "read",
  "changes OPTIONS": "anybody",
  "events GET": "list",
  "events HEAD": "list",
  "events OPTIONS": "anybody",
  "feed GET": "each collection",
  "feed HEAD": "each collection",
  "feed OPTIONS": "anybody",
  "restore POST": "update",
  "restore OPTIONS": "anybody",
  "collections GET": "each collection",
  "collections HEAD": "each collection",
  "collections OPTIONS": "anybody",
  "document GET": "anybody",
  "document HEAD": "anybody",
  "document OPTIONS": "anybody",
  "batch POST": "each operation",
  "batch OPTIONS": "anybody",
  "webhookStatus GET": "administration",
  "webhookStatus HEAD": "administration",
  "webhookStatus OPTIONS": "administration",
  "webhookDeliveries GET": "administration",
  "webhookDeliveries HEAD": "administration",
  "webhookDeliveries OPTIONS": "administration",
  "webhookAction POST": "administration",
  "webhookAction OPTIONS": "administration",
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

// The reading: what the reference says of rules, in as few words as possible.

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

/** Whether one rule lets a caller do something with a resource; `undefined` stands for the resource that suits best. */
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

/** Whether the credential itself is refused, whatever it is sent for. */
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

// What is sent. Writes that would be carried out fail at a precondition, so that what is there stays.

const seeds = owners.map((authorId) => ({ id: `of-${authorId}`, authorId, tenant: "t1" }));

let service: Service;
before(async () => {
  const declared = Object.entries(collections).map(([name, access]) => [name, access && { access }] as const);
  service = await startService({
    auth,
    collections: Object.fromEntries(declared.map(([name, access]) => [name, access ?? {}])),
    seeds: Object.fromEntries(declared.map(([name]) => [name, seeds])),
  });
});
after(() => service.stop());

const stale = { "If-Match": '"0"' };

/** The request of a row, about what belongs to somebody, and what it comes to without rules. */
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

const sentTo: Readonly<Record<Kind, (method: string, name: string, authorId: string) => Sent[]>> = {
  collection: (method, name, authorId) =>
    ["", "/"].map((end) => ({
      method,
      path: `${prefix}/${name}${end}`,
      ...contentFor(method, authorId),
      go: method === "POST" ? 201 : 200,
    })),
  resource: (method, name, authorId) =>
    ["", "/", ...(reads.includes(method) ? ["?version=1", "?at=2100-01-01", "?fields=authorId"] : [])].map(
      (end) => ({
        method,
        path: `${prefix}/${name}/of-${authorId}${end}`,
        ...contentFor(method, authorId),
        go: reads.includes(method) ? 200 : 412,
      }),
    ),
  changes: (method, name, authorId) => [
    { method, path: `${prefix}/${name}/of-${authorId}/_changes`, go: 200 },
    { method, path: `${prefix}/${name}/of-${authorId}/_changes?limit=1`, go: 200 },
  ],
  events: (method, name) =>
    ["", "/", "?since=start&limit=2"].map((end) => ({
      method,
      path: `${prefix}/${name}/_events${end}`,
      go: 200,
    })),
  feed: (method) => [{ method, path: `${prefix}/_events`, go: 200 }],
  restore: (method, name, authorId) => [
    {
      method,
      path: `${prefix}/${name}/of-${authorId}/_restore`,
      content: { version: 1 },
      headers: stale,
      go: 412,
    },
  ],
  collections: (method) => ["", "/"].map((end) => ({ method, path: `${prefix}${end}`, go: 200 })),
  document: (method) => [{ method, path: "/livez", go: 200 }],
  // Nobody administers this service, so these paths do not exist.
  webhookStatus: (method) => [{ method, path: `${prefix}/_webhooks/1/_status`, go: 404 }],
  webhookDeliveries: (method) => [{ method, path: `${prefix}/_webhooks/1/_deliveries`, go: 404 }],
  webhookAction: (method) =>
    ["_test", "_rotate", "_deliveries/1/_retry"].map((end) => ({
      method,
      path: `${prefix}/_webhooks/1/${end}`,
      go: 404,
    })),
  batch: (method) => [{ method, path: `${prefix}/_batch`, content: { operations: [] }, go: 200 }],
};

/** Sends it as everybody, and compares with what the reading says for each. */
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
  const declared = Object.entries(methodsOf).flatMap(([kind, methods]) =>
    methods.split(", ").map((method) => `${kind} ${method}`),
  );
  assert.deepEqual(Object.keys(rows).sort(), declared.sort());
});

describe("what each caller may", () => {
  for (const [row, action] of Object.entries(rows)) {
    const [kind = "", method = ""] = row.split(" ");
    test(`${row}: ${action}`, async () => {
      for (const name of Object.keys(collections)) {
        for (const authorId of owners) {
          for (const sent of sentTo[kind as Kind](method, name, authorId)) {
            if (action === "administration") {
              await compare(sent, () => "go");
            } else if (action === "anybody") {
              const go = method === "OPTIONS" ? 204 : 200;
              await compare({ ...sent, go }, () => "go");
            } else if (action === "each collection") {
              await compare(sent, (caller) => (isRefused(caller) ? 401 : "go"));
            } else if (action !== "each operation") {
              const actions: Action[] = kind === "restore" ? [action, "create"] : [action];
              await compare(sent, (caller) => expected(name, actions, caller, authorId));
            }
          }
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

  test("the list of collections", async () => {
    for (const caller of who.filter((each) => !isRefused(each))) {
      const { json } = await sendAs(service, caller, { path: prefix });
      const listed = (json as { collections: { name: string }[] }).collections.map(({ name }) => name);
      const names = Object.keys(collections).filter((name) => expected(name, ["list"], caller) === "go");
      assert.deepEqual(listed, names.sort(), caller ?? "anybody");
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
    for (const kind of Object.keys(methodsOf) as Kind[]) {
      for (const method of methods.filter((each) => !methodsOf[kind].split(", ").includes(each))) {
        const [sent] = sentTo[kind](method, "world", "ada");
        const go = rows[`${kind} OPTIONS`] === "administration" ? 404 : 405;
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
