/** The rows of the access matrix: every route and method, its action, and requests that use it. A new route or method needs a row here. */
import type { Action } from "../../../src/access/access-declaration.ts";
import { endpointTable } from "../endpoint-table.ts";
import type { Request } from "../service.ts";

/** The methods of each path of the table of endpoints. */
export const methodsOfAll = Object.fromEntries(
  endpointTable.paths.map(({ template, allow }) => [template, allow]),
);

/** The paths of people who sign in, and of consumers. This service has none of them, because it has no users and no consumers. */
const absent = endpointTable.paths.filter(({ template }) =>
  /^\/_(?:auth|accounts|audit|consumers|invitations|mails)\b/.test(template),
);

/** The documents that need no caller, each with a path and the status of a GET. */
export const documents: Readonly<Record<string, readonly [path: string, status: number]>> = {
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
export const rows: Readonly<
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
  "/_code GET": "administration",
  "/_code HEAD": "administration",
  "/_code OPTIONS": "administration",
  "/_jobs GET": "administration",
  "/_jobs HEAD": "administration",
  "/_jobs OPTIONS": "administration",
  "/_jobs/{name} GET": "administration",
  "/_jobs/{name} HEAD": "administration",
  "/_jobs/{name} OPTIONS": "administration",
  "/_jobs/{name}/_run POST": "administration",
  "/_jobs/{name}/_run OPTIONS": "administration",
  "/_configuration GET": "administration",
  "/_configuration HEAD": "administration",
  "/_configuration OPTIONS": "administration",
  ...Object.fromEntries(
    absent.flatMap(({ template, allow }) =>
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

export const prefix = "/api/v1";

// Writes that are allowed fail at a precondition, so that the resources do not change.

const stale = { "If-Match": '"0"' };

/** The request of a row for the resource of an owner, and its response without rules. */
export interface Sent extends Request {
  method: string;
  go: number;
}

export function contentFor(method: string, authorId: string): Pick<Request, "content" | "headers"> {
  if (method === "POST") return { content: { authorId } };
  if (method === "QUERY") return { content: {} };
  if (method === "PUT") return { content: { id: `of-${authorId}`, authorId }, headers: stale };
  if (method === "PATCH") return { content: { authorId }, headers: stale };
  return method === "DELETE" ? { headers: stale } : {};
}

const reads = ["GET", "HEAD", "QUERY"];

/** The methods of a collection that need a unique key in the query. */
export const byKey = ["PUT", "PATCH", "DELETE"];

export const sentTo: Readonly<Record<string, (method: string, name: string, authorId: string) => Sent[]>> = {
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
  // Nor has it code.
  "/_code": (method) => [{ method, path: `${prefix}/_code`, go: 404 }],
  "/_jobs": (method) => [{ method, path: `${prefix}/_jobs`, go: 404 }],
  "/_jobs/{name}": (method) => [{ method, path: `${prefix}/_jobs/digest`, go: 404 }],
  "/_jobs/{name}/_run": (method) => [{ method, path: `${prefix}/_jobs/digest/_run`, go: 404 }],
  "/_configuration": (method) => [{ method, path: `${prefix}/_configuration`, go: 404 }],
  ...Object.fromEntries(
    absent.map(({ template }) => [
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
