/** Reads the request of an import, without its content: its format and its query parameters. */
import type { Collection } from "../../collection/collection.ts";
import type { Unique } from "../../collection/unique.ts";
import { type IdMember, idMemberForms, readIdMember } from "../../import/id-member.ts";
import { faultOfPlace } from "../../import/nested-list.ts";
import { type NewIds, newIdsForms, readNewIds, whyNotKept, whyNotWithKey } from "../../import/new-ids.ts";
import { keyNamed, whyNoKey } from "../../query/unique-keys.ts";
import { inQuery, Violations } from "../../query/violations.ts";
import { type ImportForm, importForm } from "../protocol/content-types.ts";
import type { HttpRequest } from "../protocol/message.ts";

/** What a client asks of an import. */
export interface ImportAsked {
  /** `undefined` if the request has no Content-Type. Then it has no content either. */
  form: ImportForm | undefined;
  /** Whether to check everything, and write nothing. */
  dryRun: boolean;
  /** Whether to import the valid resources even if others are invalid. */
  skipInvalid: boolean;
  /** The character between the cells of CSV. @default "," if the header does not look like another one */
  delimiter: string | undefined;
  /** Where the list of resources is in one JSON object. @default the content is the list */
  at: string | undefined;
  /** The unique key by which the resources of the body change those of the collection. @default all of them are new */
  on: Unique | undefined;
  /** Which member of an item is its id. @default `id` */
  id: IdMember | undefined;
  /** How ids that do not fit the collection are replaced. @default they are invalid */
  ids: NewIds | undefined;
}

/** The names of the parameters. */
export const importParameters = ["dryRun", "skipInvalid", "delimiter", "at", "on", "id", "ids"] as const;

/** Reads the parameters. Throws INVALID_PARAMETER with all violations. */
export function parseImport(query: string, collection: Collection, request: HttpRequest): ImportAsked {
  const violations = new Violations();
  const given = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (!(importParameters as readonly string[]).includes(name))
      violations.add(
        inQuery(name),
        "unknownParameter",
        () => `is not understood.${violations.suggest(name, () => importParameters)}`,
      );
    else if (given.has(name)) violations.add(inQuery(name), "repeated", "must occur only once");
    else given.set(name, value);
  }
  const form = importForm(request);
  const readTruth = (name: (typeof importParameters)[number]) => {
    const value = given.get(name);
    if (value !== undefined && value !== "true" && value !== "false")
      violations.add(inQuery(name), "boolean", "must be true or false");
    return value === "true";
  };
  const asked = { form, dryRun: readTruth("dryRun"), skipInvalid: readTruth("skipInvalid") };
  const named = given.get("on");
  const delimiter = readDelimiter(given.get("delimiter") ?? ",");
  if (delimiter === undefined)
    violations.add(inQuery("delimiter"), "delimiter", 'must be one character such as "," or ";", or tab');
  else if (given.has("delimiter") && form !== "csv")
    violations.add(inQuery("delimiter"), "delimiter", "applies only to text/csv");
  const at = given.get("at");
  const faultOfAt = at !== undefined && (form === "csv" ? "applies only to JSON" : faultOfPlace(at));
  if (faultOfAt) violations.add(inQuery("at"), "at", faultOfAt);
  const on = named === undefined ? undefined : keyNamed(named.split(","), collection);
  if (named !== undefined && on === undefined)
    violations.add(inQuery("on"), "uniqueKey", whyNoKey(collection));
  const id = given.has("id") ? readIdMember(given.get("id") ?? "") : undefined;
  if (given.has("id") && id === undefined) violations.add(inQuery("id"), "id", idMemberForms);
  const ids = readNewIds(given.get("ids") ?? "");
  if (given.has("ids")) {
    const fault = ids === undefined ? newIdsForms : (whyNotKept(collection, ids) ?? whyNotWithKey(named));
    if (fault !== undefined) violations.add(inQuery("ids"), "ids", fault);
  }
  violations.throwIfAny();
  return { ...asked, delimiter: given.has("delimiter") ? delimiter : undefined, at, on, id, ids };
}

/** The delimiter that a text names; `undefined` if it cannot be one. */
export function readDelimiter(text: string): string | undefined {
  if (text === "tab") return "\t";
  return /^[^"\r\n\p{L}\p{N}]$/u.test(text) ? text : undefined;
}
