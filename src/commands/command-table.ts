/**
 * The table of commands: the arguments, options and help of each. A row imports the code that does the work only when the command
 * runs, so `--help` starts quickly.
 */
import { Command, Option } from "commander";
import { commandsOfCapabilities } from "../capabilities/all.ts";
import { type CommandRow, type OptionRow, tokenFor } from "../command.ts";
import { options } from "../config/options.ts";
import { importOptions } from "../import/options.ts";
import type { Option as ConfigOption } from "../option.ts";
import type { Environment, Flags, OnListening } from "./flags.ts";

/** What runs a command. */
interface Run {
  flags: Flags;
  env: Environment;
  onListening: OnListening | undefined;
}

const outputOption = { "-o, --output <file>": "write to a file instead of standard output" };

/** Every command, in the order of the help. Each also has the options that choose the configuration file and the store. */
const commands: Readonly<Record<string, CommandRow<Run>>> = {
  serve: {
    description: "Start the service",
    options: {
      "--insecure": "allow any --host without authentication: anyone who reaches it can change everything",
      "--read-only": "refuse every write with 503, so that you can copy the store",
      "--accept": "start even if existing resources do not fit a changed schema",
      "--watch": "restart when the configuration changes; for development",
    },
    examples: ["serve", "serve --port 4000 --store sqlite:shop.db", "serve --watch"],
    async run(_, { flags: { watch, ...flags }, env, onListening }) {
      if (watch === true) await (await import("./serve/watcher.ts")).runWatch(flags, env, onListening);
      else await (await import("./serve-command.ts")).runServe(flags, env, onListening);
    },
  },
  init: {
    summary: "Write a configuration from data",
    description:
      "Write a configuration that declares what files or a store contain. It never overwrites a configuration. The service can run at the same time.",
    arguments: {
      "<source...>":
        "json-server database, JSON array, NDJSON or CSV file, several of them, or a store: its file or its address",
    },
    options: {
      "-o, --output <file>": "file to write (default: holdfast.config.ts)",
      [importOptions.at.flag]: importOptions.at.about,
      [importOptions.delimiter.flag]: importOptions.delimiter.about,
    },
    examples: ["init db.json", "init authors.csv books.csv", "init holdfast.db"],
    run: async ([sources]: [readonly string[]], { flags, env }) =>
      (await import("./init-command.ts")).runInit(sources, flags, env),
  },
  import: {
    summary: "Import resources from a file",
    description:
      "Import resources from a file: all of them, or none if one is invalid. With a SQLite store, stop the service first, or use --to.",
    arguments: {
      "<collection>": "collection to import into; leave it out for a json-server database",
      "[file]":
        'JSON array, NDJSON (one JSON object per line) or CSV file in UTF-8; "-" reads standard input',
    },
    options: {
      "--format <format>": {
        about: "input format (default: by the file name, or json)",
        choices: ["json", "csv"],
      },
      ...Object.fromEntries(Object.values(importOptions).map(({ flag, about }) => [flag, about])),
      "--to <url>": "import into a running service: the URL of its collections",
      "--token <token>": tokenFor("of an administrator, for --to"),
    },
    examples: [
      "import topics topics.ndjson",
      "import topics topics.ndjson --to http://localhost:3000/api/v1",
      'import topics topics.csv --delimiter ";"',
      "import db.json   # every collection of a json-server database",
    ],
    async run([name, file]: [string, string | undefined], { flags, env }) {
      if (file === undefined)
        await (await import("./import/json-server.ts")).runDatabaseImport(name, flags, env);
      else await (await import("./import-command.ts")).runImport({ name, file }, flags, env);
    },
  },
  seed: {
    description: "Fill an empty store with a file",
    arguments: {
      "<file>": 'a JSON object with a list of resources for each collection; "-" reads standard input',
    },
    options: {
      [importOptions.skipInvalid.flag]: importOptions.skipInvalid.about,
      [importOptions.ids.flag]: importOptions.ids.about,
    },
    examples: ["seed db.json", "seed db.json && npx holdfast serve"],
    run: async ([file]: [string], { flags, env }) =>
      (await import("./import/json-server.ts")).runSeed(file, flags, env),
  },
  export: {
    summary: "Export a collection as NDJSON or CSV",
    description: "Export a collection as NDJSON or CSV. The service can run at the same time.",
    arguments: { "<collection>": "collection to export" },
    options: {
      "--format <format>": {
        about: "output format (default: by the file name, or ndjson)",
        choices: ["ndjson", "csv"],
      },
      "--bom": "with CSV: begin with a byte order mark, so that Excel reads the file as UTF-8",
      "--delimiter <character>": 'with CSV: character between cells: ",", ";", "|" or tab (default: ",")',
      "-o, --output <file>": "write to a file instead of standard output; it appears when complete",
    },
    examples: [
      "export topics > topics.ndjson",
      "export topics -o topics.csv",
      'export topics -o topics.csv --bom --delimiter ";"',
    ],
    run: async ([collection]: [string], { flags, env }) =>
      (await import("./export-command.ts")).runExport(collection, flags, env),
  },
  copy: {
    summary: "Copy a whole store into an empty one",
    description:
      "Copy a whole store into an empty one, with versions, history, API keys and stored responses. If the copy is interrupted, run the same command again to continue.",
    options: {
      "--from <address>": "store to copy (default: the configured store)",
      "--to <address>": {
        about: "store to create: sqlite:<file> or postgres://user@host/database",
        isRequired: true,
      },
      "--new-identity": "make the copy another store: positions in the feed of the source do not work there",
    },
    examples: ["copy --from sqlite:holdfast.db --to postgres://holdfast@localhost/holdfast"],
    run: async (_, { flags, env }) => (await import("./copy-command.ts")).runCopy(flags, env),
  },
  backup: {
    summary: "Back up the store into a new file",
    description:
      "Back up one moment of the whole store into a new SQLite file, and compare the file with the store. The service can run at the same time.",
    arguments: { "<file>": "file to create; with --every, the time is added to its name" },
    options: {
      "--every <time>": "make a backup again and again, such as every 6h, until the command is stopped",
      "--keep <number>": "with --every: remove all but the latest backups",
    },
    examples: ["backup shop-backup.db", "backup backups/shop.db --every 6h --keep 7"],
    run: async ([file]: [string], { flags, env }) =>
      (await import("./backup-command.ts")).runBackup(file, flags, env),
  },
  restore: {
    summary: "Create the store from a backup",
    description:
      "Create the store from a backup. The store must not exist yet. Webhooks are disabled, so that the restored store does not call their receivers again. Sessions of users end.",
    arguments: { "<file>": "backup to restore" },
    examples: ["restore shop-backup.db --store sqlite:shop.db"],
    run: async ([file]: [string], { flags, env }) =>
      (await import("./copy-command.ts")).runRestore(file, flags, env),
  },
  check: {
    summary: "Check the configuration, and whether stored resources fit it",
    description:
      "Check the configuration, and whether stored resources fit it. The service can run at the same time.",
    options: {
      "--asvs":
        "list which requirements of OWASP ASVS 5.0 the configuration meets, and do not read the store",
      "--hooks": "also let the hooks judge each stored resource",
    },
    examples: ["check --config holdfast.config.ts", "check --hooks", "check --asvs"],
    run: async (_, { flags, env }) => (await import("./check-command.ts")).runCheck(flags, env),
  },
  rewind: {
    summary: "Go back in time",
    description:
      "Return collections to their state at an earlier time, with new versions: all changes, or none. With a SQLite store, stop the service first, or use --url.",
    options: {
      "--to <time>": { about: "time to go back to, such as 2026-01-31T08:30:00.000Z", isRequired: true },
      "--collection <name...>": "collections to rewind (default: all)",
      "--max <number>": "most resources that can change; required without --dry-run",
      "--dry-run": "only say what would change",
      "--url <url>": "rewind a running service: the URL of its collections",
      "--token <token>": tokenFor("of an administrator, for --url"),
    },
    examples: [
      "rewind --to 2026-01-31T08:30:00.000Z --dry-run",
      "rewind --to 2026-01-31 --max 100 --collection topics --url http://localhost:3000",
    ],
    run: async (_, { flags, env }) => (await import("./rewind-command.ts")).runRewind(flags, env),
  },
  erase: {
    summary: "Erase a resource and its history permanently",
    description:
      "Erase a resource and its history permanently, also a resource that is already deleted. With a SQLite store, stop the service first.",
    arguments: { "<collection>": "collection of the resource", "<id>": "id of the resource" },
    examples: ["erase topics 0190f5a0-7c3e-7b1a-9c54-3f1de3a4b5c6"],
    run: async ([collection, id]: [string, string], { flags, env }) =>
      (await import("./erase-command.ts")).runErase({ collection, id }, flags, env),
  },
  keys: {
    summary: "Create, list, rotate and revoke API keys",
    description: "Create, list, rotate and revoke API keys. The service can run at the same time.",
    examples: ["keys create --name deploy --role editor --expires 90d", "keys list"],
    commands: {
      create: {
        description: "Create an API key and print it, this one time",
        options: {
          "--name <name>": { about: "name of the key in lists and messages", isRequired: true },
          "--subject <subject>": "caller that the key identifies (default: the name)",
          "--role <role>": {
            about: "role of the caller; repeat the option for several roles",
            repeats: true,
          },
          "--scope <scope>": {
            about:
              "restrict the key to a scope such as articles:read; repeat the option for several scopes (default: no restriction)",
            repeats: true,
          },
          "--expires <when>":
            "expiry: a time from now such as 90d, 12h or 30m, or a date such as 2027-01-31 (default: never)",
        },
        examples: ["keys create --name report --scope articles:read --expires 2027-01-31"],
        run: async (_, { flags, env }) => (await import("./keys-command.ts")).runCreate(flags, env),
      },
      list: {
        description: "List all API keys, also expired and revoked ones",
        options: { "--json": "print one JSON object per line" },
        examples: ["keys list --json"],
        run: async (_, { flags, env }) => (await import("./keys-command.ts")).runList(flags, env),
      },
      rotate: {
        description: "Replace an API key; the old key keeps working for a while",
        arguments: { "<key>": "name or prefix of the key to replace" },
        options: {
          "--expires <when>":
            "expiry of the new key, as in keys create (default: the lifetime of the old key)",
          "--overlap <time>": "how long the old key keeps working; 0m revokes it immediately (default: 1h)",
        },
        examples: ["keys rotate deploy --overlap 24h"],
        run: async ([key]: [string], { flags, env }) =>
          (await import("./keys-command.ts")).runRotate(key, flags, env),
      },
      revoke: {
        description: "Revoke an API key permanently; the service refuses it within a second",
        arguments: {
          "<key>": "name, prefix or full text of the key; a name revokes every key with that name",
        },
        examples: ["keys revoke deploy"],
        run: async ([key]: [string], { flags, env }) =>
          (await import("./keys-command.ts")).runRevoke(key, flags, env),
      },
    },
  },
  secret: {
    summary: "Print a new secret, or replace one that is lost",
    description:
      "Print a new secret for the environment variable HOLDFAST_SECRET, which encrypts what the service must be able to read again",
    examples: ["secret"],
    commands: {
      "replace-lost": {
        description:
          "Use the secret in HOLDFAST_SECRET on a store whose secret is lost. Prints the new secrets of webhooks, and who can no longer use an authenticator app. Stop the service first.",
        run: async (_, { flags, env }) => (await import("./secret-command.ts")).runReplaceLost(flags, env),
      },
    },
    run: async () => (await import("./secret-command.ts")).runSecret(),
  },
  ...ofCapabilities(),
  openapi: {
    description: "Write the OpenAPI document of the configured service",
    options: {
      "--version <version>": {
        about: "OpenAPI version; 3.2 also describes the QUERY method",
        choices: ["3.1", "3.2"],
        fallback: "3.1",
      },
      ...outputOption,
    },
    examples: ["openapi --version 3.2 -o openapi.json"],
    run: async (_, { flags, env }) => (await import("./openapi-command.ts")).runOpenapi(flags, env),
  },
  types: {
    summary: "Write TypeScript types of the collections",
    description: "Write TypeScript types of the collections, for the typed client in another project",
    arguments: { "[url]": "running service to read the collections from, instead of the configuration" },
    options: { "--token <token>": tokenFor("for the running service"), ...outputOption },
    examples: ["types -o service.d.ts", "types http://localhost:3000 -o service.d.ts"],
    run: async ([url]: [string | undefined], { flags, env }) =>
      (await import("./openapi-command.ts")).runTypes({ ...flags, url }, env),
  },
};

/** The commands of capabilities. What they get is loaded when one of them runs. */
function ofCapabilities(): Record<string, CommandRow<Run>> {
  const rows = commandsOfCapabilities.flatMap(({ capability, commands }) => {
    const lineOf = async ({ flags, env }: Run) =>
      (await import("./capability-command.ts")).commandLine(capability, flags, env);
    return Object.entries(commands).map(([name, row]) => [name, withLine(row, lineOf)] as const);
  });
  return Object.fromEntries(rows);
}

/** The same command and its subcommands, run with what a capability gets. */
function withLine<Line>(
  { commands, run, ...row }: CommandRow<Line>,
  lineOf: (how: Run) => Promise<Line>,
): CommandRow<Run> {
  const inner = Object.entries(commands ?? {}).map(([name, each]) => [name, withLine(each, lineOf)]);
  return {
    ...row,
    ...(commands && { commands: Object.fromEntries(inner) }),
    ...(run && { run: async (args, how) => run(args, await lineOf(how)) }),
  };
}

/** Every command, in the order of the help. */
export function createCommands(env: Environment, onListening?: OnListening): Command[] {
  return Object.entries(commands).map(([name, row]) => {
    const command = new Command(name).option(
      "-c, --config <file>",
      "configuration file (default: holdfast.config.{ts,js,mjs,json})",
    );
    const ofConfig = name === "serve" ? Object.values<ConfigOption<unknown>>(options) : [options.store];
    for (const option of ofConfig) addConfigOption(command, option);
    return declare(command, row, { env, onListening });
  });
}

function addConfigOption(command: Command, { flag, about, shownDefault }: ConfigOption<unknown>): void {
  if (flag === undefined) return;
  const text = `${about.replaceAll("`", '"')} (default: ${shownDefault.replaceAll("`", "")})`;
  command.addOption(new Option(flag, text));
}

function declare(command: Command, row: CommandRow<Run>, how: Omit<Run, "flags">): Command {
  command.description(row.description);
  if (row.summary !== undefined) command.summary(row.summary);
  for (const [name, about] of Object.entries(row.arguments ?? {})) command.argument(name, about);
  for (const [flags, option] of Object.entries(row.options ?? {})) command.addOption(toOption(flags, option));
  if (row.examples !== undefined)
    command.addHelpText(
      "after",
      `\nExample:\n${row.examples.map((line) => `  npx holdfast ${line}\n`).join("")}`,
    );
  for (const [name, inner] of Object.entries(row.commands ?? {}))
    command.addCommand(declare(new Command(name), inner, how));
  if (row.run === undefined) return command;
  return command.action(() => row.run?.(command.processedArgs, { ...how, flags: command.optsWithGlobals() }));
}

function toOption(flags: string, row: OptionRow): Option {
  const { about, choices, fallback, isRequired, repeats }: Exclude<OptionRow, string> =
    typeof row === "string" ? { about: row } : row;
  const option = new Option(flags, about).makeOptionMandatory(isRequired === true);
  if (choices !== undefined) option.choices(choices);
  if (fallback !== undefined) option.default(fallback);
  if (repeats === true)
    option.argParser((value: string, before: readonly string[] = []) => [...before, value]);
  return option;
}
