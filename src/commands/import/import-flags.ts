/** The options of an import on the command line, and in messages. */
import type { Collection } from "../../collection/collection.ts";
import { StartError } from "../../errors.ts";
import type { Advice } from "../../import/items.ts";
import {
  type ImportOptionName,
  type ImportOptions,
  type ImportTexts,
  importOptionNames,
  importOptions,
  readImportOptions,
} from "../../import/options.ts";
import type { Flags } from "../flags.ts";

/** The flags of a command: the texts of the options of an import, and all others. */
export function splitFlags(all: Flags): { given: ImportTexts; flags: Flags } {
  const isOption = ([name]: [string, unknown]) => (importOptionNames as readonly string[]).includes(name);
  const entries = Object.entries(all).filter(([, value]) => value !== undefined);
  return {
    given: Object.fromEntries(entries.filter(isOption).map(([name, value]) => [name, String(value)])),
    flags: Object.fromEntries(entries.filter((each) => !isOption(each))),
  };
}

/** The values of options. Throws StartError for the first one with a fault. */
export function optionsOf(
  given: ImportTexts,
  { collection, isCsv = false }: { collection?: Collection; isCsv?: boolean } = {},
): ImportOptions {
  return readImportOptions(given, {
    collection: collection && { ...collection, visibility: undefined },
    isCsv,
    otherFormat: { csv: "is for CSV: add --format csv", json: "is for JSON" },
    refuse(name, _, detail) {
      throw new StartError(`${flagOf(name)} ${detail}.`);
    },
  });
}

/** The name of an option of the command, such as `--dry-run`. */
export function flagOf(name: ImportOptionName): string {
  return importOptions[name].flag.replace(/ .*/, "");
}

/** How to set an option of the command. */
export const optionAdvice: Advice = (name, value) =>
  `add ${flagOf(name)} ${/^\w[\w.]*$/.test(value) ? value : JSON.stringify(value)}`;

const anyName = importOptionNames.join("|");

/** A message of the service with the options of the command in place of the query parameters. */
export function withOptions(message: string): string {
  return message
    .replace(
      new RegExp(`add \\?(${anyName})=(\\S+) to the path`, "g"),
      (_, name: ImportOptionName, value: string) => optionAdvice(name, decodeURIComponent(value)),
    )
    .replace(new RegExp(`The query parameter "(${anyName})"`, "g"), (_, name: ImportOptionName) =>
      flagOf(name),
    );
}
