/** The operation that says whether another operation is allowed. */
import { listOf, operation, texts, truth } from "./administration-parts.ts";
import { closedObject, type Described, json, text } from "./described.ts";
import { type OperationPlan, success } from "./operations.ts";
import { serviceTag } from "./service-operations.ts";

const explainedCondition = closedObject(
  {
    attribute: text,
    condition: { enum: ["in", "gt", "gte", "lt", "lte", "contains", "startsWith", "endsWith", "exists"] },
    negated: { description: "Whether the condition must not be true.", ...truth },
    values: listOf({}, "The values to compare with."),
    actual: { description: "The value in the resource. Left out if it is missing, long or write-only." },
    isMet: { description: "Left out without a resource, and for a write-only attribute.", ...truth },
  },
  { optional: ["actual", "isMet"] },
);

const explainedRule = closedObject(
  {
    at: { description: "The place of the rule in the configuration.", type: ["string", "null"] },
    rule: { description: "The rule as the configuration declares it." },
    resources: { enum: ["all", "some", "none"] },
    reason: text,
    conditions: listOf(explainedCondition, "The conditions of its filter."),
  },
  { optional: ["conditions"] },
);

const accessCheck = closedObject(
  {
    needs: { enum: ["scope", "writable", "read", "rule"] },
    passes: truth,
    reason: text,
    rules: listOf(explainedRule, "The rules. One of them is enough."),
  },
  { optional: ["rules"] },
);

const accessAnswer = closedObject(
  {
    collection: text,
    operation,
    id: text,
    allowed: { description: "Whether the caller can do this.", ...truth },
    resources: { description: "With which resources the caller can do this.", enum: ["all", "some", "none"] },
    reason: { description: "Why, for people.", ...text },
    attributes: closedObject(
      { readOnly: texts, writeOnly: texts, restricted: texts },
      {
        optional: ["restricted"],
        description: "Attributes that the caller cannot set, cannot read, or can do neither with.",
      },
    ),
    exists: { description: "Whether the resource exists. Only for administrators.", ...truth },
    checks: listOf(accessCheck, "What the operation needs. Only for administrators."),
  },
  { optional: ["id", "exists", "checks"] },
);

const accessQuestion = closedObject(
  {
    collection: text,
    operation,
    id: { description: "The id of a resource.", type: ["string", "integer"] },
    as: {
      description:
        "The caller to ask for, instead of yourself. `null`: without a credential. Only for administrators.",
      type: ["object", "null"],
      properties: { subject: text, roles: texts, claims: { type: "object" }, scopes: texts },
      additionalProperties: false,
    },
  },
  { optional: ["id", "as"] },
);

/** Asks whether an operation is allowed. */
export function postAccess(described: Described): OperationPlan {
  const [example = "topics"] = described.collections.keys();
  return {
    id: "checkAccess",
    tag: serviceTag,
    summary: "Ask whether an operation is allowed",
    description:
      "Says whether the caller can do an operation, without doing it. Administrators also learn which rules decide, and can ask for other callers.",
    credential: "optional",
    isNeverForbidden: true,
    requestBody: {
      required: true,
      content: json(accessQuestion, { collection: example, operation: "update" }),
    },
    successes: { 200: success(described, "The answer.", { content: json(accessAnswer) }) },
    problems: [400, 406, 413, 415],
  };
}
