/** Faults of `config`, `fit`, `server`, `commands` and the typed client. */
import type { Fault } from "../faults.ts";

export const commandFaults: readonly Fault[] = [
  {
    name: "shown-store-password",
    what: "The configuration that administrators read contains the password of the store.",
    noticedBy: "test/config/shown-options",
    test: "secrets are left out",
    replacements: [["show: (_, { store }) => shownAddress(store),", "show: (value) => value,"]],
  },
  {
    name: "environment-before-flag",
    what: "An environment variable overrides the flag of the same option.",
    noticedBy: "test/config/config",
    test: "console is true or false, from the file, the environment or a flag",
    replacements: [
      [
        `    flag === undefined ? undefined : { value: flags[camelCase(flag)], at: flag },
    option.env === undefined ? undefined : { value: env[option.env], at: option.env },`,
        `    option.env === undefined ? undefined : { value: env[option.env], at: option.env },
    flag === undefined ? undefined : { value: flags[camelCase(flag)], at: flag },`,
      ],
    ],
  },
  {
    name: "unchecked-ignore-case",
    what: "Neither the start nor an import checks the stored resources when a unique attribute gets ignoreCase.",
    noticedBy: "test/commands/unique-case",
    test: "values that differ only in case are found once ignoreCase is declared",
    replacements: [
      [
        "!isDeepStrictEqual(before.unique ?? [], now.unique)",
        `!isDeepStrictEqual(
      (before.unique ?? []).map(({ path }) => path),
      now.unique.map(({ path }) => path),
    )`,
      ],
    ],
  },
  {
    name: "store-closes-first",
    what: "The service closes its store while it still answers the last requests.",
    noticedBy: "test/commands/last-requests",
    test: "a request that is still coming in when the listener closes is answered",
    replacements: [
      [
        '  await close();\n  parts.stage = "the other threads";',
        '  await opened.close();\n  await close();\n  parts.stage = "the other threads";',
      ],
    ],
  },
  {
    name: "check-last-collection",
    what: "holdfast check counts only the problems of the last collection.",
    noticedBy: "test/commands/check-ids",
    test: "another kind of id than the store has is a misfit",
    replacements: [
      [
        'problems += await checkResources(reader, collection, [...checkNames, "ids"]);',
        'problems = await checkResources(reader, collection, [...checkNames, "ids"]);',
      ],
    ],
  },
  {
    name: "export-leaves-unfinished",
    what: "An export that fails leaves its unfinished file.",
    noticedBy: "test/commands/export-places",
    test: "an export to folder is one line: it is a folder",
    replacements: [["await rm(unfinished, { force: true }).catch(() => {});", ""]],
  },
  {
    name: "import-last-batches",
    what: "An import does not wait for the last batches, so it does not notice that they failed.",
    noticedBy: "test/commands/import-faults",
    test: "one bad line, and nothing is imported: every bad line is named with its reason",
    replacements: [["await Promise.all(this.#pending);", ""]],
  },
  {
    name: "rotate-expiry",
    what: "A rotated key gets the expiry of the old key instead of the same period of validity.",
    noticedBy: "test/commands/key-rotation",
    test: "a key that replaces another is like it, and the other works on for a while",
    replacements: [["expiresAt === undefined ? undefined : now + (expiresAt - createdAt)", "expiresAt"]],
  },
  {
    name: "client-repeats",
    what: "The client repeats a request that got no response, even if a second effect would do harm.",
    noticedBy: "test/client/retries",
    test: "does not repeat what could undo the writes of others",
    replacements: [
      [
        'if (failure.kind === "network") return isRepeatable;',
        'if (failure.kind === "network") return true;',
      ],
    ],
  },
  {
    name: "init-overwrites",
    what: "A new configuration is written beside one with another ending.",
    noticedBy: "test/commands/init",
    test: "a configuration that exists is never overwritten, whatever its name is",
    replacements: [
      [
        "[resolve(cwd, output)] : possibleFiles(cwd, undefined)",
        "[resolve(cwd, output)] : [resolve(cwd, shown)]",
      ],
    ],
  },
  {
    name: "init-dangling-reference",
    what: "An attribute becomes a reference although some of its values lead to no resource, and the import refuses the data.",
    noticedBy: "test/commands/init",
    test: "the whole text for a database is this, and these are the next commands",
    replacements: [
      [
        "return { total, unresolved: found.count === 0 ? undefined : found };",
        "return { total, unresolved: found.count < total ? undefined : found };",
      ],
    ],
  },
  {
    name: "init-closes-schema",
    what: "A configuration from data refuses attributes that the data does not have yet.",
    noticedBy: "test/commands/init",
    test: "the whole text for a database is this, and these are the next commands",
    replacements: [['      { name: "additionalProperties", value: true },\n', ""]],
  },
  {
    name: "init-taken-name",
    what: "A relation gets the name of an attribute, and the service does not start.",
    noticedBy: "test/commands/init",
    test: "names that an attribute or another relation has are not taken twice",
    replacements: [['new Set(["id", ...shape.members.keys()])', 'new Set(["id"])']],
  },
  {
    name: "init-number-of-text",
    what: "The column of a table with 00123 becomes a number, and the import loses its zeros.",
    noticedBy: "test/init/shape",
    test: "a cell is a number, a boolean or an array only if JSON writes it as the same text",
    replacements: [["return String(Number(text)) === text ? Number(text) : text;", "return Number(text);"]],
  },
  {
    name: "init-late-import",
    what: "A file is imported before the one that it refers to.",
    noticedBy: "test/init/import-order",
    test: "what is referred to comes first, and otherwise the order stays",
    replacements: [
      [
        "left.findIndex((unit) => missingFor(unit).length === 0)",
        "left.findIndex((unit) => unit.names.length > 0)",
      ],
    ],
  },
];
