/** The endpoint that exchanges the token in the link of the first start for the first API key. No document describes it. */
import type { FirstKey } from "../../access/first-key.ts";
import { parseJson, requireObject } from "../../json/parse.ts";
import { inBody, Violations } from "../../query/violations.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import { type Asked, notFound, type Result } from "../operations/result.ts";
import { jsonLimits } from "../protocol/content.ts";
import { jsonType } from "../protocol/message.ts";
import type { Service } from "../service.ts";

export const firstKeyEndpoint: Endpoint = {
  path: "/_console/first-key",
  isOutside: true,
  method: "POST",
  who: "everyone",
  exists: ({ firstKey }) => firstKey?.isOpen() === true,
  isDescribed: () => false,
  body: () => ({}),
  id: "createFirstKey",
  summary: "Create the first API key",
  description: "",
  successes: {},
  handle: createFirstKey,
};

/** Throws INVALID_TOKEN, KEY_UNAVAILABLE, INVALID_PARAMETER, and the problems of receiving the content. */
async function createFirstKey(service: Service, { request }: Asked): Promise<Result> {
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
