/** Content-Type of requests: the media types that each method accepts, and the problems of all others. */
import { Problem } from "../../errors.ts";
import { hasContent } from "./content.ts";
import { parseMediaType } from "./media-types.ts";
import type { HttpRequest } from "./message.ts";

/** The format of a patch. */
export type PatchFormat = "merge-patch" | "json-patch" | "update";

/** The media type of update operators. */
export const updateType = "application/vnd.holdfast.update+json";

/** The media types, and the headers that state them in a 415. */
const contentTypes = {
  POST: { headers: ["accept"], types: { "application/json": "json" } },
  PUT: { headers: ["accept"], types: { "application/json": "json" } },
  PATCH: {
    headers: ["accept-patch"],
    types: {
      "application/merge-patch+json": "merge-patch",
      "application/json-patch+json": "json-patch",
      [updateType]: "update",
      "application/json": "merge-patch",
    },
  },
  QUERY: { headers: ["accept-query", "accept"], types: { "application/json": "json" } },
} as const;

/** The form of the content of an import. */
export type ImportForm = "array" | "lines" | "csv";

/** NDJSON has no registered media type, and these names are in use. */
const importTypes: Readonly<Record<string, ImportForm>> = {
  "application/json": "array",
  "application/x-ndjson": "lines",
  "application/ndjson": "lines",
  "application/jsonl": "lines",
  "application/x-jsonlines": "lines",
  "text/csv": "csv",
};

/** The media types that an import accepts, as the value of a header. It leaves out the other names of NDJSON. */
export const importTypeNames = "application/json, application/x-ndjson, text/csv";

const withCurl = "With curl, use --json instead of -d or -F, or add -H 'Content-Type: application/json'";

/** Advice about the media types that clients send by default. */
const adviceByType: Readonly<Record<string, string>> = {
  "application/x-www-form-urlencoded": `HTML forms and "curl -d" send this type. Send the attributes as a JSON object. ${withCurl}.`,
  "multipart/form-data": `HTML forms with files and "curl -F" send this type. Send the attributes as a JSON object. ${withCurl}.`,
  "text/plain": `fetch() sends this type when the body is a string. Set the type: { headers: { "Content-Type": "application/json" } }. ${withCurl}.`,
};

/** A method whose requests have content. */
export type MethodWithContent = keyof typeof contentTypes;

/** Whether requests of this method have content. */
export function isMethodWithContent(method: string): method is MethodWithContent {
  return Object.hasOwn(contentTypes, method);
}

/** The media types that a method accepts, as the value of a header. */
export function typesOf(method: MethodWithContent): string {
  return Object.keys(contentTypes[method].types).join(", ");
}

/**
 * Throws UNSUPPORTED_CONTENT_CODING and UNSUPPORTED_MEDIA_TYPE, and INVALID_PARAMETER for a QUERY without a Content-Type
 * (RFC 10008 §2).
 */
export function requireContentType(request: HttpRequest, method: MethodWithContent): void {
  const given = request.headers["content-type"];
  if (method === "QUERY" && given === undefined) throw queryWithoutType();
  requireType(request, {
    accepts: contentTypes[method].types,
    refuse: () => unsupportedType(method, given),
  });
}

/** The media types of a merge patch. */
const mergePatchTypes = { "application/merge-patch+json": "merge-patch", "application/json": "merge-patch" };

/** The media types of a PATCH that accepts only merge patches, as the value of a header. */
export const mergePatchTypeNames = Object.keys(mergePatchTypes).join(", ");

/** As `requireContentType`, for a PATCH that accepts only merge patches. */
export function requireMergePatchType(request: HttpRequest): void {
  requireType(request, {
    accepts: mergePatchTypes,
    refuse: () => {
      const given = request.headers["content-type"];
      const detail = `${whatIsWrong(given)}. This path accepts only ${mergePatchTypeNames}.${adviceFor(given)}`;
      const headers = { "accept-patch": mergePatchTypeNames };
      return new Problem("UNSUPPORTED_MEDIA_TYPE", detail, { headers });
    },
  });
}

/** As `requireContentType`, for the path of imports. */
export function requireImportType(request: HttpRequest): void {
  requireType(request, {
    accepts: importTypes,
    refuse: () =>
      new Problem(
        "UNSUPPORTED_MEDIA_TYPE",
        `${whatIsWrong(request.headers["content-type"])}. An import accepts ${importTypeNames} in UTF-8. With curl, use -H 'Content-Type: application/x-ndjson' --data-binary @file.`,
        { headers: { accept: importTypeNames } },
      ),
  });
  if (importForm(request) !== "csv" || !withoutHeader.test(request.headers["content-type"] ?? "")) return;
  throw new Problem(
    "UNSUPPORTED_MEDIA_TYPE",
    `${whatIsWrong(request.headers["content-type"])}. The first row of CSV must name the attributes. Add this row, and leave out "header=absent".`,
    { headers: { accept: importTypeNames } },
  );
}

/** The parameter of `text/csv` for a first row that is data (RFC 4180 section 3). */
const withoutHeader = /;[ \t]*header="?absent"?[ \t]*(?:;|$)/i;

/** The form of the content of an import, after `requireImportType`; `undefined` without a Content-Type. */
export function importForm({ headers }: HttpRequest): ImportForm | undefined {
  return importTypes[parseMediaType(headers["content-type"] ?? "")?.type ?? ""];
}

function requireType(
  request: HttpRequest,
  { accepts, refuse }: { accepts: object; refuse: () => Problem },
): void {
  if (!hasContent(request)) return; // BODY_REQUIRED comes later
  const given = request.headers["content-type"];
  const coding = request.headers["content-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "identity") throw unsupportedCoding(coding);
  const mediaType = given === undefined ? undefined : parseMediaType(given);
  const isKnown = mediaType !== undefined && Object.hasOwn(accepts, mediaType.type);
  if (isKnown && (mediaType.charset === undefined || mediaType.charset === "utf-8")) return;
  throw refuse();
}

/** The format of a patch. `requireContentType` has refused all other types, except for empty content. */
export function patchFormat({ headers }: HttpRequest): PatchFormat {
  const formats: Readonly<Record<string, PatchFormat>> = contentTypes.PATCH.types;
  return formats[parseMediaType(headers["content-type"] ?? "")?.type ?? ""] ?? "merge-patch";
}

function unsupportedCoding(coding: string): Problem {
  return new Problem(
    "UNSUPPORTED_CONTENT_CODING",
    `Content-Encoding "${coding}" is not supported. Send the body uncompressed and without Content-Encoding.`,
    { headers: { "accept-encoding": "identity" } },
  );
}

function whatIsWrong(given: string | undefined): string {
  return given === undefined ? "The request has no Content-Type" : `Content-Type "${given}" is not supported`;
}

/** Advice about a media type, with a space before it; empty for most types. */
function adviceFor(given: string | undefined): string {
  const advice = adviceByType[given?.split(";")[0]?.trim().toLowerCase() ?? ""];
  return advice === undefined ? "" : ` ${advice}`;
}

function unsupportedType(method: MethodWithContent, given: string | undefined): Problem {
  const types = typesOf(method);
  const detail = `${whatIsWrong(given)}. ${method} accepts ${types} in UTF-8.${adviceFor(given)}`;
  return new Problem("UNSUPPORTED_MEDIA_TYPE", detail, {
    headers: Object.fromEntries(contentTypes[method].headers.map((name) => [name, types])),
  });
}

function queryWithoutType(): Problem {
  const types = typesOf("QUERY");
  return new Problem("INVALID_PARAMETER", `QUERY needs a Content-Type. It accepts ${types} in UTF-8.`, {
    headers: { "accept-query": types },
    violations: [
      { in: "header", name: "Content-Type", code: "required", detail: `send Content-Type: ${types}` },
    ],
  });
}
