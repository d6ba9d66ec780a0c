/** Faults of `config`, `fit`, `server`, `commands` and the typed client. */
import type { Fault } from "../faults.ts";

export const commandFaults: readonly Fault[] = [
  {
    name: "shown-store-password",
    what: "The configuration that administrators read contains the password of the store.",
    noticedBy: "test/config/shown-options",
    replacements: [["show: (_, { store }) => shownAddress(store),", "show: (value) => value,"]],
  },
  {
    name: "environment-before-flag",
    what: "An environment variable overrides the flag of the same option.",
    noticedBy: "test/config/config",
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
    noticedBy: "test/commands/unique",
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
    noticedBy: "test/commands/life",
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
    noticedBy: "test/commands/check",
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
    noticedBy: "test/commands/export",
    replacements: [["await rm(unfinished, { force: true }).catch(() => {});", ""]],
  },
  {
    name: "import-last-batches",
    what: "An import does not wait for the last batches, so it does not notice that they failed.",
    noticedBy: "test/commands/import",
    replacements: [["await Promise.all(this.#pending);", ""]],
  },
  {
    name: "rotate-expiry",
    what: "A rotated key gets the expiry of the old key instead of the same period of validity.",
    noticedBy: "test/commands/keys",
    replacements: [["expiresAt === undefined ? undefined : now + (expiresAt - createdAt)", "expiresAt"]],
  },
  {
    name: "client-repeats",
    what: "The client repeats a request that got no response, even if a second effect would do harm.",
    noticedBy: "test/client/retries",
    replacements: [
      [
        'if (failure.kind === "network") return isRepeatable;',
        'if (failure.kind === "network") return true;',
      ],
    ],
  },
];
