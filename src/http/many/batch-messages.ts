/**
 * The messages of one operation in a batch: its own request, in which names of created resources become ids, and its response
 * as part of the response to the batch.
 */
import { type IdKind, idJson } from "../../collection/ids.ts";
import { isObject } from "../../json/values.ts";
import type { Result } from "../operations/result.ts";
import { contentOf } from "../protocol/content.ts";
import { type HttpRequest, textOf } from "../protocol/message.ts";
import { respond } from "../respond.ts";
import type { Clock, Surface } from "../service.ts";
import type { BatchOperation } from "./batch-content.ts";

/** The resources that operations created, by the names that the operations gave them. */
export type CreatedResources = ReadonlyMap<string, { id: string; idKind: IdKind }>;

/** The operation as if it were sent alone. */
export function requestOf(
  listed: BatchOperation,
  { request, prefix, created }: { request: HttpRequest; prefix: string; created: CreatedResources },
): HttpRequest {
  const bytes = bytesOf(listed, created);
  const { version, headers, rawHeaders, id, client, socket, ticket } = request;
  return {
    version,
    method: listed.method,
    target: prefix + pathOf(listed.path, created),
    headers: {
      ...(headers.host === undefined ? {} : { host: headers.host }),
      ...(bytes.length === 0 ? {} : { "content-type": "application/json" }),
      ...listed.headers,
      "content-length": String(bytes.length),
    },
    rawHeaders,
    id,
    client,
    socket,
    content: contentOf(bytes),
    ticket: ticket.part(),
  };
}

/** `/topics/$t` is the topic that the operation with the name "t" created. An escaped dollar sign is only a character. */
function pathOf(path: string, created: CreatedResources): string {
  if (!path.includes("$") || created.size === 0) return path;
  return path.replace(/(?<=\/)\$([^/?]+)/g, (segment, name: string) => {
    const made = created.get(name);
    return made === undefined ? segment : encodeURIComponent(made.id);
  });
}

function bytesOf({ body }: BatchOperation, created: CreatedResources): Buffer {
  if (body === undefined) return Buffer.alloc(0);
  return Buffer.from(JSON.stringify(created.size === 0 ? body : membersWithIds(body, created)));
}

/** The body itself is always a resource or a patch. */
function membersWithIds(body: unknown, created: CreatedResources): unknown {
  if (Array.isArray(body)) return body.map((item: unknown) => withIds(item, created));
  if (!isObject(body)) return body;
  // Members are defined, not assigned: a member with the name __proto__ stays plain data.
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, withIds(value, created)]));
}

function withIds(value: unknown, created: CreatedResources): unknown {
  const made = isObject(value) ? named(value, created) : undefined;
  return made === undefined ? membersWithIds(value, created) : JSON.parse(idJson(made.idKind, made.id));
}

/** The resource that `{"$ref": name}` names. Any other object is data. */
function named(
  value: Record<string, unknown>,
  created: CreatedResources,
): { id: string; idKind: IdKind } | undefined {
  const { $ref: name } = value;
  return typeof name === "string" && Object.keys(value).length === 1 ? created.get(name) : undefined;
}

/** Headers of the whole response, not of one result. */
const ofTheWhole = new Set(["content-type", "content-length", "cache-control"]);

/** Status, headers and body of the response that the operation would get if it were sent alone, as a JSON object. */
export function resultText(service: Surface & Clock, result: Result, request: HttpRequest): string {
  const response = respond(service, result, request);
  const { status, headers } = response;
  const body = textOf(response);
  const own = Object.entries(headers).filter(([name]) => !ofTheWhole.has(name));
  const shown = JSON.stringify(Object.fromEntries(own.map(([name, value]) => [shownName(name), value])));
  const end = body === undefined ? "}" : `,"body":${body}}`;
  return `{"status":${status},"headers":${shown}${end}`;
}

function shownName(name: string): string {
  return name === "etag" ? "ETag" : name.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
}
