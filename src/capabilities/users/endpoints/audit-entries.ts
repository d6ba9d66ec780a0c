/** The endpoint with which administrators read the audit. */
import { timeOf } from "../../../collection/dates.ts";
import { closedObject, count, json, listOf, next, type Part, text } from "../../../http/openapi/described.ts";
import type { PageAsked } from "../../../http/operations/page-parameters.ts";
import { jsonResult, notFound } from "../../../http/operations/result.ts";
import { inQuery, Violations } from "../../../query/violations.ts";
import type { AuditEntry, AuditQuery } from "../audit.ts";
import type { UsersEndpoint } from "../open-users.ts";
import { time, timeText } from "./sign-in.ts";
import { hasUsers } from "./user-administration.ts";

const entry = closedObject(
  {
    id: text,
    time,
    kind: { ...text, description: "What it records, such as `signIn`." },
    result: { enum: ["done", "failed", "refused"] },
    subject: { ...text, description: "The id of the user." },
    actor: { ...text, description: "The subject of the administrator who did it, or `command`." },
    method: { ...text, description: "How it was proven, such as `password`." },
    policy: { ...text, description: "The limit that has refused it." },
    item: { ...text, description: "The id of the session, invitation, key or factor that it is about." },
    email: { ...text, description: "The address of a new or deleted account, or of an invitation." },
    network: { ...text, description: "The network of the client, without the last part of its address." },
    agent: { ...text, description: "The start of the header `User-Agent`." },
    request: { ...text, description: "The id of the request, as in the log." },
    before: { type: "object", description: "What a change has replaced." },
    after: { type: "object", description: "What a change has made." },
    count: { ...count, description: "How often it has happened in its minute." },
    lastTime: { ...time, description: "When it has happened for the last time in its minute." },
  },
  {
    optional: [
      "subject",
      "actor",
      "method",
      "policy",
      "item",
      "email",
      "network",
      "agent",
      "request",
      "before",
      "after",
      "count",
      "lastTime",
    ],
  },
);

/** The parameters that filter, and what each says. */
const filters = {
  kind: "Only entries of this kind.",
  subject: "Only entries about the user with this id.",
  actor: "Only entries about what this administrator did.",
  from: "Only entries from this time on: a date, or a time such as `2031-01-31T08:00:00Z`.",
  to: "Only entries before this time.",
} as const;

/** What `next` has of the last entry of a page. */
const place = /^(\d{1,15})_([0-9a-f-]{36})$/;

/** The endpoint. */
export const auditEndpoint: UsersEndpoint = {
  path: "/_audit",
  method: "GET",
  tag: "Users",
  who: "administrators",
  exists: hasUsers,
  page: { usual: 100, most: 1_000, hasAfter: true, filters: Object.keys(filters) },
  parameters: Object.entries(filters).map(
    ([name, description]): Part => ({ name, in: "query", description, schema: text }),
  ),
  id: "listAudit",
  summary: "Read the audit",
  description:
    "Lists what people and administrators did with accounts, and what was refused, the latest first.",
  successes: {
    200: {
      description: "The entries.",
      content: json(closedObject({ entries: listOf(entry), next }, { optional: ["next"] })),
    },
  },
  handle: async ({ settings }, { page }, { people }) => {
    if (people === undefined) return notFound;
    const { entries, more } = await people.users.audit.list(queryOf(page));
    const last = entries.at(-1);
    const after = `${last?.at}_${last?.id}`;
    const query = new URLSearchParams({ ...page.filters, limit: String(page.limit), after });
    return jsonResult({
      entries: entries.map(shownEntry),
      ...(more && { next: `${settings.prefix}/_audit?${query}` }),
    });
  },
};

/** Throws INVALID_PARAMETER. */
function queryOf({ limit, after, filters: given }: PageAsked): AuditQuery {
  const violations = new Violations();
  const [isPlace, at, id = ""] = place.exec(after ?? "") ?? [];
  if (after !== undefined && isPlace === undefined)
    violations.add(inQuery("after"), "after", 'must come from "next" of a page');
  const times = (["from", "to"] as const).map((name) => {
    const asked = given[name];
    const value = asked === undefined ? undefined : timeOf(asked);
    if (asked !== undefined && value === undefined)
      violations.add(inQuery(name), "time", 'must be a date or a time, such as "2031-01-31T08:00:00Z"');
    return value;
  });
  violations.throwIfAny();
  const { kind, subject, actor } = given;
  const [from, to] = times;
  return {
    kind,
    subject,
    actor,
    from,
    to,
    limit,
    ...(after !== undefined && { after: { at: Number(at), id } }),
  };
}

function shownEntry({ at, lastAt, bytes: _, id, ...others }: AuditEntry): object {
  const lastTime = lastAt === undefined ? {} : { lastTime: timeText(lastAt) };
  return { id, time: timeText(at), ...others, ...lastTime };
}
