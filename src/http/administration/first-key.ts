/** Exchanges the token in the link of the first start for the first API key. */
import type { FirstKey } from "../../access/first-key.ts";
import { parseJson, requireObject } from "../../json/parse.ts";
import { inBody, Violations } from "../../query/violations.ts";
import { notFound, type Result } from "../operations/result.ts";
import { jsonLimits } from "../protocol/content.ts";
import { type HttpRequest, jsonType } from "../protocol/message.ts";
import type { Service } from "../service.ts";

/** Throws INVALID_TOKEN, KEY_UNAVAILABLE, INVALID_PARAMETER, and the problems of receiving the content. */
export async function createFirstKey(service: Service, request: HttpRequest): Promise<Result> {
  const { firstKey, settings, writes } = service;
  const bytes = await request.content.receive(settings.limits.bodyBytes);
  const { token, ...others } = requireObject(parseJson(bytes, jsonLimits(settings.limits)), {
    insteadOfArray: 'send {"token":"…"}',
  });
  const violations = new Violations();
  if (typeof token !== "string") violations.add(inBody("token"), "type", "must be a string");
  for (const name of Object.keys(others))
    violations.add(inBody(name), "unknownMember", "is not understood. Known names: token");
  violations.throwIfAny();
  // The time of the link can end between the route and here.
  if (firstKey?.isOpen() !== true) return notFound;
  return writes.run("keys", () => spend(firstKey, String(token)));
}

async function spend(firstKey: FirstKey, token: string): Promise<Result> {
  const { text, key, administers } = await firstKey.spend(token);
  const { prefix, name, subject, roles } = key;
  const body = JSON.stringify({ prefix, name, subject, roles, administers, key: text });
  const headers = { "cache-control": "no-store" };
  return { kind: "document", document: { status: 201, type: jsonType, body, headers } };
}
