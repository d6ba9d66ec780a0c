/** Describes the endpoints of a path in an OpenAPI document. */
import type { Action } from "../../access/access-declaration.ts";
import type { Collection } from "../../collection/collection.ts";
import { isInternal } from "../../store/port/record.ts";
import type { About } from "../openapi/about.ts";
import { type Described, type InDocument, type Part, pageLimit, ref, text } from "../openapi/described.ts";
import { serviceTag } from "../openapi/names.ts";
import { responseName } from "../openapi/problem-responses.ts";
import { commonHeaders, headersOf } from "../openapi/response-headers.ts";
import { isMethodWithContent } from "../protocol/content-types.ts";
import type { EndpointMethod, Who } from "../service.ts";
import { bodyPart } from "./body.ts";
import { type Row, type Success, valueFor } from "./endpoint.ts";

/** Whether a caller needs a credential. With an optional one, the response can include more. */
export type Credential = "none" | "optional" | "required";

/** What a document says about a path besides its rows: its parameters, its collection, and the collection above. */
export interface InPath {
  path: readonly Part[];
  about?: About;
  parent?: About;
}

/** The operations of a path, by method. OpenAPI 3.1 cannot describe QUERY. */
export function pathItem<D extends InDocument>(
  { endpoints }: { endpoints: readonly Row<D>[] },
  described: D,
  within: InPath,
): Part {
  const shown = endpoints.filter(({ method }) => method !== "QUERY" || described.version === "3.2");
  return Object.fromEntries(
    shown.map((each) => [each.method.toLowerCase(), operationOf(each, described, within)]),
  );
}

function operationOf<D extends InDocument>(endpoint: Row<D>, described: D, within: InPath): Part {
  const { who, page, body } = endpoint;
  const { access } = described;
  const credential = credentialFor(who, described, within);
  const description = valueFor(endpoint.description, described);
  const parameters = [
    ...within.path,
    ...(page === undefined ? [] : pageParts(page)),
    ...valueFor(endpoint.parameters ?? [], described),
  ];
  const successes = Object.entries(valueFor(endpoint.successes, described));
  const errors = errorsOf(endpoint, described, { ...within, credential });
  return {
    operationId: valueFor(endpoint.id, described),
    tags: [endpoint.tag ?? within.about?.tag ?? serviceTag],
    summary: valueFor(endpoint.summary, described),
    description: access === undefined ? description : `${description}\n\n${needs[credential]}`,
    ...(access !== undefined &&
      credential !== "required" && {
        security: credential === "none" ? [] : [{}, ...credentialsOf(described)],
      }),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: typeof body === "function" ? body(described) : bodyPart(body),
    }),
    responses: {
      ...Object.fromEntries(successes.map(([status, each]) => [status, successPart(each, described)])),
      ...Object.fromEntries(errors.map((status) => [status, ref("responses", responseName(status))])),
      default: ref("responses", "AnyProblem"),
    },
  };
}

/** The sentence about credentials in a description, if the service has `auth`. */
const needs: Readonly<Record<Credential, string>> = {
  none: "It needs no credential.",
  optional: "It is public. With a credential, the response can include more.",
  required: "It needs a credential.",
};

/** The kinds of credentials, each of which is enough. */
export function credentialsOf({ settings }: Described): Part[] {
  return settings.cookieOrigins === undefined ? [{ bearer: [] }] : [{ bearer: [] }, { cookie: [] }];
}

function successPart(
  { description, must = [], may = [], content, links }: Success,
  { settings }: Described,
): Part {
  const headers = headersOf([...commonHeaders(settings.rate !== undefined), ...must], may);
  return { description, headers, ...(content && { content }), ...(links && { links }) };
}

/** The methods of endpoints that change nothing. */
const reading: ReadonlySet<string> = new Set(["GET", "QUERY"]);

/** The statuses of all errors: those of the row, and those that follow from its other members and from the service. */
function errorsOf<D extends InDocument>(
  endpoint: Row<D>,
  described: D,
  { path, about, credential }: InPath & { credential: Credential },
): number[] {
  const { method, who, formats, ignoresHeaders, isKeyed, isFree, isNeverForbidden, errors = [] } = endpoint;
  const { access, settings } = described;
  const isForSome = who === "administrators" || (about !== undefined && isInternal(about.collection.name));
  const isUnknown = path.length > 0 || (isForSome && access !== undefined);
  const hasFormat = formats !== "any" && ignoresHeaders !== true;
  const mayRefuse = access !== undefined && credential !== "none";
  const isForbidden = mayRefuse && isNeverForbidden !== true && !isForSome; // for others, such a path does not exist
  const isJudged =
    about === undefined
      ? who === "writers" && settings.hooked.size > 0
      : settings.hooked.has(about.collection.name) && !reading.has(method);
  const all = [
    400,
    ...(isUnknown ? [404] : []),
    ...(hasFormat ? [406] : []),
    ...(isMethodWithContent(method) ? [413, 415] : []),
    ...(isKeyed === true ? [409, 422] : []),
    ...(mayRefuse ? [401] : []),
    ...(isForbidden || isJudged || (settings.requireTls && credential !== "none") ? [403] : []),
    ...(settings.rate !== undefined && isFree !== true ? [429] : []),
    ...valueFor(errors, described),
  ];
  return [...new Set(all)].sort((a, b) => a - b);
}

/** Whether a caller needs a credential. `about` is the collection of the path, and `parent` the collection above. */
export function credentialFor(
  who: Who,
  { access }: Described,
  { about, parent }: Pick<InPath, "parent"> & { about?: About | undefined },
): Credential {
  if (who === "writers") return access?.mayWrite(undefined) === true ? "optional" : "required";
  if (typeof who === "string")
    return ({ public: "none", everyone: "optional", administrators: "required" } as const)[who];
  if ("roles" in who) return "required";
  const anybodyMay = (collection: Collection | undefined, actions: readonly Action[]) => {
    const permit = collection && access?.permit(collection.name, undefined);
    return permit !== undefined && actions.some((action) => permit.may(action) !== "nothing");
  };
  // A path below a resource also needs the right to read this resource.
  if (parent !== undefined && !anybodyMay(parent.collection, ["read"])) return "required";
  return anybodyMay(about?.collection, who.action) ? "optional" : "required";
}

function pageParts({ usual, most, hasAfter, what = "items" }: NonNullable<EndpointMethod["page"]>): Part[] {
  const limit = {
    name: "limit",
    in: "query",
    description: `The most ${what} ${hasAfter ? "on the page" : "in the response"}, or \`max\`.`,
    schema: { ...pageLimit(1, most), default: usual },
  };
  const after = {
    name: "after",
    in: "query",
    description: "The page starts after the item with this name.",
    schema: text,
  };
  return hasAfter ? [limit, after] : [limit];
}
