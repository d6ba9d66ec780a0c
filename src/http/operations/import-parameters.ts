/** Reads the request of an import, without its content: its format and its query parameters. */
import type { Collection } from "../../collection/collection.ts";
import {
  type ImportOptionName,
  type ImportOptions,
  importOptionNames,
  readImportOptions,
} from "../../import/options.ts";
import { inQuery, Violations } from "../../query/violations.ts";
import { type ImportForm, importForm } from "../protocol/content-types.ts";
import type { HttpRequest } from "../protocol/message.ts";

/** What a client asks of an import. */
export interface ImportAsked extends ImportOptions {
  /** `undefined` if the request has no Content-Type. Then it has no content either. */
  form: ImportForm | undefined;
  dryRun: boolean;
  skipInvalid: boolean;
}

/** Reads the parameters. Throws INVALID_PARAMETER with all violations. */
export function parseImport(query: string, collection: Collection, request: HttpRequest): ImportAsked {
  const violations = new Violations();
  const given: Partial<Record<ImportOptionName, string>> = {};
  for (const [name, value] of new URLSearchParams(query)) {
    const known = importOptionNames.find((each) => each === name);
    if (known === undefined)
      violations.add(
        inQuery(name),
        "unknownParameter",
        () => `is not understood.${violations.suggest(name, () => importOptionNames)}`,
      );
    else if (given[known] !== undefined) violations.add(inQuery(name), "repeated", "must occur only once");
    else given[known] = value;
  }
  const form = importForm(request);
  const options = readImportOptions(given, {
    collection,
    isCsv: form === "csv",
    otherFormat: { csv: "applies only to text/csv", json: "applies only to JSON" },
    refuse: (name, code, detail) => violations.add(inQuery(name), code, detail),
  });
  violations.throwIfAny();
  return { ...options, form, dryRun: options.dryRun === true, skipInvalid: options.skipInvalid === true };
}
