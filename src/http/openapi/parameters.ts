/** The parameters and headers of requests, as components. */
import { collectionName } from "../../collection/collection.ts";
import { idKinds } from "../../collection/ids.ts";
import { aliasEmbedLimit, defaultEmbedLimit } from "../../query/embed-request.ts";
import { dateUnits } from "../../query/figures.ts";
import { figureLimits } from "../../query/figures-request.ts";
import { aliasParameters, type ListParameter, listParameters } from "../../query/list-parameters.ts";
import { defaultPageSize } from "../../query/list-request.ts";
import { delimiterNames } from "../../query/table-form.ts";
import { defaultLimit, maxCollections, maxLimit, maxWaitSeconds } from "../operations/feed-parameters.ts";
import type { Limits } from "../settings.ts";
import { type Part, pageLimit, ref, text } from "./described.ts";
import { type Names, schemaNames } from "./names.ts";

const whole = (minimum: number): Part => ({ type: "integer", minimum });
const names: Part = { type: "array", items: text };

/** The description and the schema of each parameter of a list. */
const ofLists: Readonly<Record<ListParameter, { description: string; schema: Part }>> = {
  limit: {
    description:
      "The maximum number of resources on a page, or `max` for the most that a page can have. `0` is possible together with `count=exact`, and gives the total alone.",
    schema: whole(0),
  },
  cursor: {
    description: "The start of the page, from a `next` link.",
    schema: { ...text, minLength: 1 },
  },
  offset: { description: "The number of resources before the page.", schema: whole(0) },
  range: {
    description:
      "The first and the last position of the page: `[0,24]`. If the range is longer than a page can be, `Content-Range` says where the page ends.",
    schema: text,
  },
  _start: { description: "The number of resources before the page.", schema: whole(0) },
  _end: {
    description:
      "The position after the last resource of the page. The page cannot be longer than with `limit`.",
    schema: whole(0),
  },
  _page: { description: "The number of the page, from 1.", schema: whole(1) },
  _limit: { description: "The same as `limit`, for use with `_start` or `_page`.", schema: whole(1) },
  _per_page: { description: "The same as `limit`, for use with `_page`.", schema: whole(1) },
  sort: {
    description:
      "Attributes to sort by, at most 5: `-year,title`; `-` is descending, `name:natural` puts `item 9` before `Item 10`, and `qty:nullslast` or `qty:nullsfirst` says where null and missing values are. `author.name` can be an attribute of the resource that a reference names.",
    schema: names,
  },
  _sort: { description: "Attributes to sort by: `year,title`.", schema: text },
  _order: { description: "The directions for `_sort`: `desc,asc`.", schema: text },
  filter: { description: 'A filter as JSON: `{"year":{"gte":1950}}`.', schema: text },
  q: { description: "Words to search for.", schema: text },
  at: {
    description:
      "Reads the list, or the resource, as it was at this time: a day, a timestamp, or Unix time in milliseconds. A list with `at` cannot have `q`.",
    schema: text,
  },
  timezone: {
    description:
      "The time zone of `today` in filters, and of the units by which `group` groups dates: `Europe/Berlin`. Without it, UTC.",
    schema: text,
  },
  fields: {
    description:
      "The attributes in the response, such as `title`, or those that it leaves out, such as `-body`. `id` is always included. `author.name` chooses attributes of embedded resources, and `*` means all attributes of the resource itself.",
    schema: names,
  },
  embed: {
    description:
      "Relations whose resources the response contains, as members of each resource: `author,comments(status=open,limit:5,sort:-createdAt),author.team`.",
    schema: text,
  },
  _embed: {
    description: `The same as \`embed\`, with at most ${aliasEmbedLimit} related resources of each resource instead of ${defaultEmbedLimit}.`,
    schema: text,
  },
  _expand: { description: "The same as `_embed`.", schema: text },
  envelope: {
    description: "Whether the response is an object with the page, its links and the total.",
    schema: { type: "boolean", default: false },
  },
  count: {
    description: "`exact` always counts the total, and `none` never does.",
    schema: { type: "string", enum: ["exact", "none"] },
  },
  bom: {
    description: "Whether CSV begins with a byte order mark: Excel then reads it as UTF-8.",
    schema: { type: "boolean", default: false },
  },
  delimiter: {
    description:
      "The character between the cells of CSV. Excel expects `;` where the decimal separator is a comma.",
    schema: { type: "string", enum: delimiterNames, default: "," },
  },
  aggregate: {
    description: `Responds with figures instead of resources, at most ${figureLimits.figures}: \`count\`, \`sum(total)\`, \`avg(total)\`, \`min(placedAt)\`, \`max(placedAt)\`. \`sort\` then names groups and figures, and \`limit\` and \`offset\` select groups.`,
    schema: names,
  },
  group: {
    description: `The attributes by which \`aggregate\` groups resources, at most ${figureLimits.group}. A unit after an attribute groups by dates, in UTC or in \`timezone\`: \`placedAt:month\`. The units are ${Object.keys(dateUnits).join(", ")}. \`author.country\` can be an attribute of the resource that a reference names.`,
    schema: names,
  },
  distinct: {
    description: "The values of attributes, with the number of resources of each: `aggregate=count&group=…`.",
    schema: names,
  },
};

/** The schemas of the parameters that have the bound of the service. */
function limitSchemas(page: number): Partial<Record<ListParameter, Part>> {
  const limit = { ...pageLimit(0, page), default: Math.min(defaultPageSize, page) };
  return { limit, _limit: pageLimit(1, page), _per_page: pageLimit(1, page) };
}

/** The parameters of lists as components. Aliases are marked with `x-holdfast-alias`, and the page at `/docs` leaves them out. */
function listParameterParts({ page }: Limits): Record<string, Part> {
  return Object.fromEntries(
    listParameters.map((name) => {
      const { description, schema } = ofLists[name];
      const given = limitSchemas(page)[name] ?? schema;
      const list = schema === names ? { style: "form", explode: false } : {};
      const alias = aliasParameters.has(name) ? { "x-holdfast-alias": true } : {};
      return [name, { name, in: "query", description, ...list, schema: given, ...alias }];
    }),
  );
}

/** Selects an earlier version of a resource. Earlier states of resources and lists have the parameter `at`. */
const versionParameter: Part = {
  name: "version",
  in: "query",
  description: "Reads this version of the resource.",
  schema: whole(1),
};

/** The parameters of feeds, by the names of their components. Feeds have `filter` and `fields` of lists too. */
const ofFeeds = {
  since: {
    name: "since",
    in: "query",
    description:
      "Where the events start: a position from a `next` or `monitor` link or from an `id:` line of a stream, `now`, or `start` (the oldest change that is kept). A page starts at `start` by default, and a stream at `now`.",
    schema: { ...text, minLength: 1 },
  },
  eventLimit: {
    name: "limit",
    in: "query",
    description: "The number of events after which a page ends, or `max` for the most. Streams refuse it.",
    schema: { ...pageLimit(1, maxLimit), default: defaultLimit },
  },
  wait: {
    name: "wait",
    in: "query",
    description:
      "How many seconds the service waits for a first event before it sends an empty page. Streams refuse it.",
    schema: { ...whole(0), maximum: maxWaitSeconds, default: 0 },
  },
  lastEventIdHeader: {
    name: "Last-Event-ID",
    in: "header",
    description: "A position. Browsers send it when they connect again. It takes precedence over `since`.",
    schema: text,
  },
  lastEventId: {
    name: "lastEventId",
    in: "query",
    description: "The same as `Last-Event-ID`, for clients that cannot send this header.",
    schema: text,
  },
  feedCollections: {
    name: "collection",
    in: "query",
    description: `The names of the collections, at most ${maxCollections}. Without it, all collections that the caller can list, if there are no more than ${maxCollections}.`,
    style: "form",
    explode: false,
    schema: names,
  },
} as const satisfies Record<string, Part>;

/** The name of the component of a parameter of feeds. */
export type FeedParameter = keyof typeof ofFeeds;

/** The headers of requests, by the names of their components. */
const requestHeaders = {
  ifMatch: [
    "If-Match",
    'Entity tags such as `"7"`, or `*`. If none matches the current one, the response is 412.',
  ],
  ifNoneMatch: [
    "If-None-Match",
    "Entity tags, or `*`. If one matches, the response to a read is 304 and to a write 412. A PUT with `*` creates the resource, if clients can choose ids in the collection.",
  ],
  ifModifiedSince: [
    "If-Modified-Since",
    "A date. If the resource has not changed since then, the response is 304.",
  ],
  ifUnmodifiedSince: [
    "If-Unmodified-Since",
    "A date. If the resource has changed since then, the response is 412.",
  ],
  prefer: ["Prefer", "`return=minimal` gives a response without a body."],
  preferAsync: [
    "Prefer",
    "`respond-async` makes a task of the request. The response is 202, with the path of the task in `Location`.",
  ],
  idempotencyKey: [
    "Idempotency-Key",
    "A random key, such as a UUID. A request takes effect once, even if you send it again with the same key.",
  ],
} as const;

/** The name of the component of a header. */
export type RequestHeader = keyof typeof requestHeaders;

/** All parameters that operations share, as components. */
export function parameterParts(limits: Limits, usesOpen: boolean): Record<string, Part> {
  const headers = Object.entries(requestHeaders).map(([key, [name, description]]) => {
    const schema = key === "idempotencyKey" ? { type: "string", minLength: 1, maxLength: 257 } : text;
    return [key, { name, in: "header", description, schema }] as const;
  });
  return {
    ...listParameterParts(limits),
    ...ofFeeds,
    version: versionParameter,
    ...Object.fromEntries(headers),
    ...(usesOpen ? { collection: collectionParameter } : {}),
  };
}

const collectionParameter: Part = {
  name: "collection",
  in: "path",
  required: true,
  description: "The name of a collection.",
  example: "topics",
  schema: { type: "string", pattern: collectionName.source },
};

/** The id in a path. */
export function idParameter(kind: keyof typeof idKinds): Part {
  return {
    name: "id",
    in: "path",
    required: true,
    description: `The id of the resource. ${idKinds[kind]}`,
    schema: { type: "string", minLength: 1 },
  };
}

/** The parameter for filters by attribute. */
export function attributeFilters(names: Names): Part {
  return {
    name: "attributes",
    in: "query",
    description: "Filters by attribute. Each filter is a separate parameter.",
    style: "form",
    explode: true,
    schema: ref("schemas", schemaNames(names).filter),
    example: {}, // otherwise, pages for trying requests fill in every filter
  };
}

/** The headers of a request, as parameters of an operation. */
export function headerParameters(...fields: readonly RequestHeader[]): Part[] {
  return fields.map((name) => ref("parameters", name));
}
