/** The operations on the paths of the service itself that describe it and administer it. */
import { actions } from "../../access/actions.ts";
import { idKinds } from "../../collection/ids.ts";
import { postAccess } from "./access-operations.ts";
import { after, limitParameter, listOf, next, operation, texts, truth } from "./administration-parts.ts";
import { closedObject, count, type Described, json, type Part, ref, text } from "./described.ts";
import { keyPaths } from "./key-operations.ts";
import { type OperationPlan, operationPart, success } from "./operations.ts";
import { serviceTag } from "./service-operations.ts";

/** The ids of these operations, which no collection can use. */
export const administrationIds = [
  "getCollectionDetails",
  "checkAccess",
  "getConfiguration",
  "listApiKeys",
  "createApiKey",
  "getApiKey",
  "rotateApiKey",
  "revokeApiKey",
] as const;

const declaredRule = closedObject({
  at: { description: "The place of the rule in the configuration.", type: ["string", "null"] },
  rule: { description: "The rule as the configuration declares it." },
});

const reference = closedObject({
  attribute: text,
  collection: text,
  onDelete: { enum: ["restrict", "cascade", "clear"] },
});

const relation = closedObject({
  name: text,
  kind: { enum: ["reference", "inverse"] },
  collection: text,
  attribute: text,
  list: { description: "Whether a resource can have several related resources.", ...truth },
});

const collectionDetails = closedObject(
  {
    name: text,
    href: { description: "The path of the collection.", type: "string", format: "uri-reference" },
    declared: { description: "Whether the configuration declares the collection.", ...truth },
    id: { enum: Object.keys(idKinds) },
    schema: {
      description:
        "The JSON Schema of the attributes that clients send. `null` without a schema, or if hidden attributes cannot be left out of it.",
      type: ["object", "boolean", "null"],
    },
    defaults: {
      description:
        "The defaults of attributes as the configuration has them. Leaves out those of hidden attributes.",
      type: "object",
      additionalProperties: true,
    },
    timestamps: truth,
    requirePreconditions: truth,
    indexes: listOf(texts, "The attributes of each index. `-` means descending."),
    unique: listOf(closedObject({ attribute: text, ignoreCase: truth })),
    search: { ...texts, description: "The attributes that `q` searches." },
    references: listOf(reference),
    relations: listOf(relation),
    operations: listOf(operation, "What the caller can do with at least some resources."),
    count: { ...count, description: "The number of resources, if the caller can list all of them." },
    bytes: {
      ...count,
      description:
        "About how many bytes of the database the collection takes, with its history, its indexes and its search words. Only for administrators, and only if the service can find it out quickly.",
    },
    rules: {
      description: "The access rules, for administrators. `null` without `auth`.",
      type: ["object", "null"],
      properties: Object.fromEntries(actions.map((action) => [action, listOf(declaredRule)])),
    },
  },
  { optional: ["count", "bytes", "rules"] },
);

function getCollectionDetails(described: Described): OperationPlan {
  const whose = described.access === undefined ? "" : " It leaves out what is hidden from the caller.";
  return {
    id: "getCollectionDetails",
    tag: serviceTag,
    summary: "Describe the collections",
    description: `Returns the schema and the options of each collection, sorted by name.${whose}`,
    credential: "optional",
    isNeverForbidden: true,
    parameters: [
      limitParameter(100, 500),
      after,
      ref("parameters", "ifNoneMatch"),
      ref("parameters", "ifMatch"),
    ],
    successes: {
      200: success(described, "The collections.", {
        must: ["ETag"],
        content: json(closedObject({ collections: listOf(collectionDetails), next }, { optional: ["next"] })),
      }),
      304: success(described, "The collections have not changed.", { must: ["ETag"] }),
    },
    problems: [400, 406, 412],
  };
}

const configuration = closedObject({
  file: { description: "The configuration file.", type: ["string", "null"] },
  options: listOf(
    closedObject(
      {
        name: text,
        value: { description: "The effective value, without secrets. `null` if it is not set." },
        source: { enum: ["default", "file", "application", "environment", "flag"] },
        from: { description: "The flag or the environment variable.", ...text },
      },
      { optional: ["from"] },
    ),
  ),
});

function getConfiguration(described: Described): OperationPlan {
  return {
    id: "getConfiguration",
    tag: serviceTag,
    summary: "Read the configuration",
    description:
      "Returns each option with its effective value and where the value comes from. Only for administrators.",
    credential: "required",
    isNeverForbidden: true,
    successes: { 200: success(described, "The configuration.", { content: json(configuration) }) },
    problems: [400, ...(described.access === undefined ? [] : [404]), 406],
  };
}

/** The path items of these operations. */
export function administrationPaths(described: Described): Record<string, Part> {
  const { prefix } = described.settings;
  const operationOf = (plan: OperationPlan) => operationPart(plan, described);
  return {
    [`${prefix}/_collections`]: { get: operationOf(getCollectionDetails(described)) },
    [`${prefix}/_access`]: { post: operationOf(postAccess(described)) },
    ...((described.access === undefined || described.access.hasAdministrators) && {
      [`${prefix}/_configuration`]: { get: operationOf(getConfiguration(described)) },
    }),
    ...(described.settings.hasKeys && keyPaths(described)),
  };
}
