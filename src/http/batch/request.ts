/** Each operation of a batch as a request of its own, with the names of what was created before filled in. */

import type { IdKind } from "../../collection/ids.ts";
import { idJson } from "../../collection/ids.ts";
import { isObject } from "../../json/gate.ts";
import type { HttpRequest } from "../message.ts";
import type { Listed } from "./content.ts";

/** What operations created, by the names that they gave it. */
export type Created = ReadonlyMap<string, { id: string; idKind: IdKind }>;

/** The operation as if it came alone, with its content received. */
export function requestOf(
  listed: Listed,
  { request, prefix, created }: { request: HttpRequest; prefix: string; created: Created },
): HttpRequest {
  const received = contentOf(listed, created);
  const { headers } = request;
  const { version, rawHeaders, id, client, principal, content, budget } = request;
  return {
    version,
    method: listed.method,
    target: prefix + pathOf(listed.path, created),
    headers: {
      ...(headers.host === undefined ? {} : { host: headers.host }),
      ...(received.length === 0 ? {} : { "content-type": "application/json" }),
      ...listed.headers,
      "content-length": String(received.length),
    },
    rawHeaders,
    id,
    client,
    principal,
    content,
    budget,
    heldBytes: 0,
    received,
  };
}

/** `/topics/$t` is the topic that an operation called t created. An escaped dollar sign is one itself. */
function pathOf(path: string, created: Created): string {
  if (!path.includes("$") || created.size === 0) return path;
  return path.replace(/(?<=\/)\$([^/?]+)/g, (segment, name: string) => {
    const made = created.get(name);
    return made === undefined ? segment : encodeURIComponent(made.id);
  });
}

function contentOf({ body }: Listed, created: Created): Buffer {
  if (body === undefined) return Buffer.alloc(0);
  return Buffer.from(JSON.stringify(created.size === 0 ? body : membersWithIds(body, created)));
}

/** The body itself is a resource or patch, never a name. */
function membersWithIds(body: unknown, created: Created): unknown {
  if (Array.isArray(body)) return body.map((item: unknown) => withIds(item, created));
  if (!isObject(body)) return body;
  // Members are defined, not assigned: an own member called __proto__ stays plain data.
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, withIds(value, created)]));
}

function withIds(value: unknown, created: Created): unknown {
  const made = isObject(value) ? named(value, created) : undefined;
  return made === undefined ? membersWithIds(value, created) : JSON.parse(idJson(made.idKind, made.id));
}

/** What `{"$ref": name}` names; any other object is data. */
function named(value: Record<string, unknown>, created: Created): { id: string; idKind: IdKind } | undefined {
  const { $ref: name } = value;
  return typeof name === "string" && Object.keys(value).length === 1 ? created.get(name) : undefined;
}
