/** Answers whether a caller can do something. Administrators also learn why, and can ask for others. */

import { includes, isInScope, type Judged, type Permit } from "../../access/access.ts";
import { type Action, scopeOf } from "../../access/access-declaration.ts";
import { type ExplainedRule, explainRule } from "../../access/explain-rules.ts";
import type { Principal } from "../../access/principal.ts";
import type { AllowedResources } from "../../access/rules.ts";
import { type Collection, openCollection } from "../../collection/collection.ts";
import { timestampNames } from "../../collection/timestamps.ts";
import { conditionKinds } from "../../query/conditions.ts";
import { targetIn } from "../../query/targets.ts";
import { currentOf } from "../caller/judged.ts";
import { administers, guardOf, viewFor } from "../caller/permission.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import { operation as action, closedObject, json, listOf, text, texts, truth } from "../openapi/described.ts";
import type { Asked, Result } from "../operations/result.ts";
import { jsonType } from "../protocol/message.ts";
import { type Callers, type Data, findCollection, type Service } from "../service.ts";
import { type AccessQuestion, parseQuestion } from "./access-content.ts";

/** One thing that an operation needs. */
interface Check {
  needs: "scope" | "rule" | "read" | "writable";
  passes: boolean;
  reason: string;
  rules?: readonly ExplainedRule[];
}

/** The question, with what decides it. */
interface Case extends AccessQuestion {
  principal: Principal | undefined;
  isInScope: boolean;
  /** The resources with which the rules allow the operation, whatever the scopes of the credential. */
  allowed: AllowedResources;
  /** Whether the answer can depend on the resource with the id. */
  isLookedUp: boolean;
  /** That resource, with what the rules look at; `undefined` if it does not exist. */
  state: Judged | undefined;
}

const explainedCondition = closedObject(
  {
    attribute: text,
    condition: { enum: [...conditionKinds, "eq", "ne"] },
    negated: { description: "Whether the condition must not be true.", ...truth },
    values: listOf({}, "The values to compare with."),
    other: { description: "The attribute to compare with, instead of values.", ...text },
    actual: { description: "The value in the resource. Left out if it is missing, long or write-only." },
    isMet: { description: "Left out without a resource, and for a write-only attribute.", ...truth },
  },
  { optional: ["other", "actual", "isMet"] },
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
    operation: action,
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
    operation: action,
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

/** The endpoint. */
export const accessCheckEndpoint: Endpoint = {
  path: "/_access",
  method: "POST",
  exists: ({ isBatch }) => isBatch !== true,
  who: "everyone",
  isNeverForbidden: true,
  body({ collections }) {
    const [example = "topics"] = collections().keys();
    return {
      required: true,
      content: json(accessQuestion, { collection: example, operation: "update" }),
    };
  },
  id: "checkAccess",
  summary: "Ask whether an operation is allowed",
  description:
    "Says whether the caller can do an operation, without doing it. Administrators also learn which rules decide, and can ask for other callers.",
  successes: { 200: { description: "The answer.", content: json(accessAnswer) } },
  handle: checkAccess,
};

/** Answers a question about access. Throws INVALID_PARAMETER, the problems of receiving the content, and UNAVAILABLE. */
async function checkAccess(service: Service, { caller, request }: Asked): Promise<Result> {
  const { limits } = service.settings;
  const isAdministrator = administers(service, caller);
  const isKnown = (name: string) => findCollection(service, name) !== undefined;
  const bytes = await request.content.receive(limits.bodyBytes);
  const question = parseQuestion(bytes, { isAdministrator, isKnown }, limits);
  const principal = question.as === undefined ? caller.principal : question.as.principal;
  const about = await caseOf(service, { ...question, principal }, isAdministrator);
  const body = JSON.stringify(answerTo(service, about, isAdministrator));
  return { kind: "document", document: { status: 200, type: jsonType, body } };
}

async function caseOf(
  service: Data & Callers,
  question: AccessQuestion & Pick<Case, "principal">,
  isAdministrator: boolean,
): Promise<Case> {
  const { collection, operation, id, principal } = question;
  const allowed = permitOf(service, question)?.may(operation) ?? "everything";
  const isScoped = isInScope(principal, collection, operation);
  // A caller who cannot do this with any resource must not learn which resources exist.
  const isLookedUp = id !== undefined && (isAdministrator || (isScoped && allowed !== "nothing"));
  const declared = findCollection(service, collection) ?? openCollection(collection);
  const guard = guardOf(service, declared, { principal: withoutScopes(principal), quota: undefined });
  const state = isLookedUp ? await currentOf(service, guard, { collection, id }) : undefined;
  return { ...question, isInScope: isScoped, allowed, isLookedUp, state };
}

/** What the rules allow the caller, whatever the scopes of the credential. */
function permitOf(
  { access }: Callers,
  { collection, principal }: Pick<Case, "collection" | "principal">,
): Permit | undefined {
  return access?.permit(collection, withoutScopes(principal));
}

function withoutScopes(principal: Principal | undefined): Principal | undefined {
  return principal && { ...principal, scopes: undefined };
}

function answerTo(service: Data & Callers, about: Case, isAdministrator: boolean): object {
  const { collection, operation, id, allowed, principal } = about;
  const checks = checksOf(service, about, isAdministrator);
  const failed = checks.find(({ passes }) => !passes);
  const resources = id !== undefined || allowed === "everything" ? "all" : "some";
  const declared = service.collections().get(collection) ?? openCollection(collection);
  const view = viewFor(service, declared, { principal });
  return {
    collection,
    operation,
    ...(id !== undefined && { id }),
    allowed: failed === undefined,
    resources: failed === undefined ? resources : "none",
    reason: (failed ?? checks.at(-1))?.reason,
    attributes: attributesOf(view, isAdministrator),
    ...(isAdministrator && {
      ...(id !== undefined && { exists: about.state !== undefined }),
      checks: explained(service, about, checks),
    }),
  };
}

/** What the operation needs. The reason of the first check that fails is the reason for the caller. */
function checksOf(service: Data & Callers, about: Case, isAdministrator: boolean): Check[] {
  const { operation, principal, isLookedUp } = about;
  const isWrite = scopeOf(operation) === "write";
  const { absent, refused } = isAdministrator ? aboutCaller : aboutReader;
  return [
    ...(principal?.scopes === undefined ? [] : [scopeCheck(about)]),
    ...(isWrite && service.readOnly
      ? [{ needs: "writable" as const, passes: false, reason: "The service is read-only." }]
      : []),
    ...(isLookedUp && operation !== "read" ? [visibleCheck(service, about, absent)] : []),
    ruleCheck(service, about, { absent, refused }),
  ];
}

function scopeCheck({ collection, operation, isInScope: passes }: Case): Check {
  const scope = `"${collection}:${scopeOf(operation)}"`;
  const reason = passes
    ? `The credential has the scope ${scope}.`
    : `The credential is limited to scopes, and does not have the scope ${scope}.`;
  return { needs: "scope", passes, reason };
}

/** Why the rules refuse something. */
interface Refusals {
  absent: string;
  refused: string;
}

/** For administrators, who can ask for other callers. */
const aboutCaller: Refusals = {
  absent: "No resource with this id exists for the caller.",
  refused: "The rules do not allow the caller to do this.",
};
/** For all others, who ask for themselves. */
const aboutReader: Refusals = {
  absent: "No resource with this id exists for you.",
  refused: "Your credential does not allow this. An administrator can see which rule says so.",
};

/** A resource that the caller cannot see gets the same answer as one that does not exist. */
function visibleCheck(service: Callers, about: Case, absent: string): Check {
  const visible = permitOf(service, about)?.visible() ?? "everything";
  const passes = about.state !== undefined && includes(visible, about.state);
  return { needs: "read", passes, reason: passes ? "The resource exists for the caller." : absent };
}

function ruleCheck(
  { access }: Callers,
  { id, state, operation, allowed, principal }: Case,
  { absent, refused }: Refusals,
): Check {
  const passes = id === undefined ? allowed !== "nothing" : state !== undefined && includes(allowed, state);
  return { needs: "rule", passes, reason: reasonFor() };

  function reasonFor(): string {
    if (allowed === "nothing")
      return principal === undefined ? "The rules do not allow this without a credential." : refused;
    if (!passes && (operation === "read" || state === undefined)) return absent;
    if (!passes) return "The rules allow this with other resources, but not with this one.";
    if (access === undefined) return "The service does not use access rules, so every caller can do this.";
    if (id !== undefined) return "The rules allow this with this resource.";
    return allowed === "everything"
      ? "The rules allow this with every resource."
      : "The rules allow this with some resources.";
  }
}

/** The attributes that the caller cannot read or set. Only administrators may learn the names of restricted ones. */
function attributesOf(
  { attributeRules, visibility, timestamps }: Collection,
  isAdministrator: boolean,
): object {
  const restricted = visibility?.restricted ?? new Set<string>();
  const namesOf = (isNamed: (rule: Collection["attributeRules"][number]) => boolean) =>
    attributeRules.filter((rule) => isNamed(rule) && !restricted.has(rule.name)).map(({ name }) => name);
  return {
    readOnly: ["id", ...(timestamps ? timestampNames : []), ...namesOf(({ readOnly }) => readOnly)],
    writeOnly: namesOf(({ writeOnly }) => writeOnly),
    ...(isAdministrator && { restricted: [...restricted] }),
  };
}

/** The checks with the rules that decide them. */
function explained(service: Data & Callers, about: Case, checks: readonly Check[]): readonly Check[] {
  const { access, collections } = service;
  if (access === undefined) return checks;
  const { collection, operation, principal, state } = about;
  const rules = access.rulesOf(collection);
  const secret =
    collections()
      .get(collection)
      ?.attributeRules.filter(({ writeOnly }) => writeOnly) ?? [];
  const writeOnly = new Set(secret.map(({ name }) => name));
  const resource = state && (JSON.parse(state.text) as Record<string, unknown>);
  const targetOf = targetIn(state?.targets ?? new Map());
  const explain = (action: Action) =>
    explainRule(rules[action], {
      principal,
      resource,
      writeOnly,
      targetOf,
      collection,
      collections: collections(),
    });
  const shown = checks.map((check) => {
    if (check.needs === "rule") return { ...check, rules: explain(operation) };
    return check.needs === "read" ? { ...check, rules: explain("read") } : check;
  });
  // A list contains only resources that the caller can also read one by one.
  if (operation !== "list" || about.isLookedUp) return shown;
  const passes = permitOf(service, about)?.visible() !== "nothing";
  const reason = passes ? "The caller can read resources." : "The caller cannot read any resource.";
  return [...shown, { needs: "read", passes, reason, rules: explain("read") }];
}
