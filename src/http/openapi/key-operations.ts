/** The operations on API keys, for administrators. */
import { after, limitParameter, listOf, next, texts, truth } from "./administration-parts.ts";
import { closedObject, type Described, json, type Part, text } from "./described.ts";
import { type OperationPlan, operationPart, success } from "./operations.ts";
import { serviceTag } from "./service-operations.ts";

const time: Part = { type: ["string", "null"], format: "date-time" };

const keyMembers = {
  prefix: { description: "The public part of the key, which identifies it.", ...text },
  name: text,
  subject: { description: "The caller that the key identifies.", ...text },
  roles: texts,
  scopes: { type: ["array", "null"], items: text, description: "`null` without a limit." },
  valid: { description: "Whether the key is neither revoked nor expired.", ...truth },
  createdAt: time,
  expiresAt: { ...time, description: "`null` if the key never expires." },
  revokedAt: time,
  lastUsedAt: { ...time, description: "The last use, to the hour." },
};
const apiKey = closedObject(keyMembers);
const newApiKey = closedObject({
  ...keyMembers,
  key: { description: "The key itself. Only this response contains it.", ...text },
});

const keyInput = closedObject(
  {
    name: { type: "string", minLength: 1, maxLength: 100 },
    subject: { description: "By default, the name.", type: "string", minLength: 1, maxLength: 100 },
    roles: { description: "Only roles that `auth.keyRoles` allows.", ...texts, maxItems: 100 },
    scopes: { ...keyMembers.scopes, maxItems: 100 },
    expiresAt: {
      type: ["string", "null"],
      description: "A date or a time in the future. By default, never.",
    },
  },
  { optional: ["subject", "roles", "scopes", "expiresAt"] },
);

const rotation = closedObject(
  {
    overlapSeconds: {
      description: "How long the old key keeps working.",
      type: "integer",
      minimum: 0,
      maximum: 2_592_000,
      default: 3_600,
    },
    expiresAt: {
      type: ["string", "null"],
      description: "A date or a time in the future. `null`: never. By default, the lifetime of the old key.",
    },
  },
  { optional: ["overlapSeconds", "expiresAt"] },
);

/** The operations on API keys, which exist for administrators only. */
export function keyPaths(described: Described): Record<string, Part> {
  const { prefix } = described.settings;
  const path = `${prefix}/_keys`;
  const common = { tag: serviceTag, credential: "required" as const, isNeverForbidden: true };
  const prefixParameter: Part = {
    name: "id",
    in: "path",
    required: true,
    description: "The prefix of the key.",
    schema: text,
  };
  const one = (description: string) => success(described, description, { content: json(apiKey) });
  const made = success(described, "The new key.", { must: ["Location"], content: json(newApiKey) });
  const plans: Record<string, Record<string, OperationPlan>> = {
    [path]: {
      get: {
        ...common,
        id: "listApiKeys",
        summary: "List the API keys",
        description: "Lists all keys, also expired and revoked ones, the oldest first.",
        parameters: [limitParameter(100, 1_000), after],
        successes: {
          200: success(described, "The keys.", {
            content: json(closedObject({ keys: listOf(apiKey), next }, { optional: ["next"] })),
          }),
        },
        problems: [400, 404, 406],
      },
      post: {
        ...common,
        id: "createApiKey",
        summary: "Create an API key",
        description: "Creates a key and returns it. No other response contains it.",
        requestBody: { required: true, content: json(keyInput, { name: "deploy" }) },
        successes: { 201: made },
        problems: [400, 404, 406, 409, 413, 415],
      },
    },
    [`${path}/{id}`]: {
      get: {
        ...common,
        id: "getApiKey",
        summary: "Read an API key",
        description: "Returns what the service knows about a key, without the key itself.",
        parameters: [prefixParameter],
        successes: { 200: one("The key.") },
        problems: [400, 404, 406],
      },
    },
    [`${path}/{id}/_rotate`]: {
      post: {
        ...common,
        id: "rotateApiKey",
        summary: "Replace an API key",
        description:
          "Creates a key with the same properties and returns it. The old key keeps working for a while.",
        parameters: [prefixParameter],
        requestBody: { required: false, content: json(rotation, { overlapSeconds: 86_400 }) },
        successes: { 201: made },
        problems: [400, 404, 406, 409, 413, 415],
      },
    },
    [`${path}/{id}/_revoke`]: {
      post: {
        ...common,
        id: "revokeApiKey",
        summary: "Revoke an API key",
        description: "Makes a key invalid for ever. The service refuses it within a second.",
        parameters: [prefixParameter],
        successes: { 200: one("The revoked key.") },
        problems: [400, 404, 406, 413, 415],
      },
    },
  };
  return Object.fromEntries(
    Object.entries(plans).map(([at, methods]) => [
      at,
      Object.fromEntries(
        Object.entries(methods).map(([method, plan]) => [method, operationPart(plan, described)]),
      ),
    ]),
  );
}
