/** The schemas that all collections share: errors, lists, changes and the state of the service. */
import { figureLimits } from "../../query/figures-request.ts";
import { operatorNames } from "../../query/operators.ts";
import type { bodyMembers } from "../../query/query-body.ts";
import { delimiterNames } from "../../query/table-form.ts";
import { changeKinds } from "../../store/port/change-log.ts";
import type { Limits } from "../settings.ts";
import { closedObject, type Part, pageLimit, text, texts } from "./described.ts";
import { feedSchemas } from "./event-schemas.ts";
import { problemSchemas } from "./problem-responses.ts";
import { writeSchemas } from "./write-schemas.ts";

const durability: Part = {
  description: "`relaxed` if the database is set up so that it can lose acknowledged writes.",
  type: "string",
  enum: ["relaxed"],
};

const log: Part = {
  description: "`long` if a large part of SQLite's log waits for a checkpoint.",
  type: "string",
  enum: ["long"],
};

const data: Part = {
  description:
    "`damaged` if some of the stored data is damaged. The log of the service names it. `unchecked` if the walk that looks for damage was interrupted.",
  type: "string",
  enum: ["damaged", "unchecked"],
};

/** The schemas, by their names. */
export function commonSchemas(limits: Limits): Record<string, Part> {
  return {
    ...problemSchemas(),
    CollectionList: collectionList,
    Change: change,
    Deletion: deletion,
    ...feedSchemas,
    ListQuery: listQuery(limits),
    Figures: figures,
    ...writeSchemas(limits),
    Health: closedObject(
      { status: { type: "string", enum: ["pass", "warn", "fail"] }, durability, log, data, failing },
      { optional: ["durability", "log", "data", "failing"] },
    ),
    ProblemType: closedObject({
      type: text,
      title: text,
      status: { type: "integer" },
      code: text,
      meaning: text,
    }),
  };
}

const failing: Part = {
  description: "The parts of the service that cannot work now, such as `code`. The log says why.",
  ...texts,
};

const collectionList: Part = closedObject(
  {
    collections: {
      type: "array",
      items: closedObject({
        name: text,
        href: { description: "The path of the collection.", type: "string", format: "uri-reference" },
      }),
    },
  },
  { description: "The collections, sorted by name." },
);

const change: Part = closedObject(
  {
    version: { type: "integer", minimum: 1 },
    kind: { type: "string", enum: changeKinds },
    at: { type: "string", format: "date-time" },
    principal: {
      description: "Who made the change. Left out if unknown or hidden from the caller.",
      ...text,
    },
    group: { description: "Changes that were made together have the same value.", ...text },
    task: { description: "The id of the task that made the change.", ...text },
  },
  { optional: ["principal", "group", "task"], description: "A change of a resource." },
);

const deletion: Part = closedObject(
  {
    at: { description: "When the resource was deleted.", type: "string", format: "date-time" },
    by: { description: "Who deleted it. Left out if unknown or hidden from the caller.", ...text },
    version: { description: "The last version of the resource.", type: "integer", minimum: 1 },
  },
  { optional: ["by"], description: "The delete of a resource." },
);

type QueryMember = (typeof bodyMembers)[number];

const queryMembers: Record<Exclude<QueryMember, "limit">, Part> = {
  filter: {
    description: `Attributes with values, lists of values, or operators (${operatorNames.join(", ")}); and, or, not. Instead of a value, {"attribute":"name"} is another attribute.`,
    type: "object",
  },
  sort: { type: "array", items: text },
  cursor: { type: "string", minLength: 1 },
  offset: { type: "integer", minimum: 0 },
  fields: { type: "array", minItems: 1, items: text },
  embed: {
    description: "Relations whose resources the response contains, each as in the query parameter.",
    type: "array",
    minItems: 1,
    items: text,
  },
  q: text,
  at: {
    description: "A time, as the query parameter `at`. A number is Unix time in milliseconds.",
    type: ["string", "integer"],
  },
  timezone: { description: "A time zone, as the query parameter `timezone`.", ...text },
  envelope: { type: "boolean" },
  count: { type: "string", enum: ["exact", "none"] },
  bom: { description: "Whether CSV begins with a byte order mark.", type: "boolean" },
  delimiter: { description: "The character between the cells of CSV.", type: "string", enum: delimiterNames },
  aggregate: namesSchema(figureLimits.figures),
  group: namesSchema(figureLimits.group),
  distinct: namesSchema(figureLimits.group),
};

function namesSchema(maxItems: number): Part {
  return { type: "array", maxItems, items: text };
}

const figures: Part = {
  description:
    "The figures of one group: a member for each attribute in `group`, if the group has a value, and one for each figure in `aggregate`. Each member has the name that the request uses. The figures of an exact number are strings.",
  type: "object",
  additionalProperties: true,
};

function listQuery({ page }: Limits): Part {
  const members: Record<QueryMember, Part> = { ...queryMembers, limit: pageLimit(0, page) };
  const description = "The parameters of a list, as in GET.";
  return closedObject(members, { optional: Object.keys(members), description });
}
