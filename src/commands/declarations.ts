/**
 * Declares every command: its arguments, its options and its help. The code that does the work is imported only when
 * the command runs, so `--help` starts quickly.
 */
import { Command, Option } from "commander";
import { keysCommand } from "./keys/declarations.ts";
import {
  addServiceOptions,
  addStoreOptions,
  type Environment,
  examples,
  type Flags,
  type OnListening,
} from "./options.ts";
import { webhooksCommand } from "./webhooks/declarations.ts";

/** Every command, in the order of the help. */
export function createCommands(env: Environment, onListening?: OnListening): Command[] {
  return [
    serveCommand(env, onListening),
    importCommand(env),
    seedCommand(env),
    exportCommand(env),
    copyCommand(env),
    backupCommand(env),
    restoreCommand(env),
    checkCommand(env),
    rewindCommand(env),
    eraseCommand(env),
    keysCommand(env),
    webhooksCommand(env),
    openapiCommand(env),
    typesCommand(env),
  ];
}

function serveCommand(env: Environment, onListening?: OnListening): Command {
  return addServiceOptions(addStoreOptions(new Command("serve")))
    .description("Start the service")
    .option(
      "--insecure",
      "allow any --host without authentication: anyone who reaches it can change everything",
    )
    .option("--read-only", "refuse every write with 503, so that you can copy the store")
    .option("--accept", "start even if existing resources do not fit a changed schema")
    .option("--watch", "restart when the configuration changes; for development")
    .addHelpText("after", examples("serve", "serve --port 4000 --store sqlite:shop.db", "serve --watch"))
    .action(async ({ watch, ...flags }: Flags) => {
      if (watch === true) {
        const { runWatch } = await import("./serve/watch/watch.ts");
        await runWatch(flags, env, onListening);
      } else {
        const { runServe } = await import("./serve.ts");
        await runServe(flags, env, onListening);
      }
    });
}

function importCommand(env: Environment): Command {
  return addStoreOptions(new Command("import"))
    .summary("Import resources from a file")
    .description(
      "Import resources from a file: all of them, or none if one is invalid. With a SQLite store, stop the service first, or use --to.",
    )
    .argument("<collection>", "collection to import into; leave it out for a json-server database")
    .argument(
      "[file]",
      'JSON array, NDJSON (one JSON object per line) or CSV file in UTF-8; "-" reads standard input',
    )
    .addOption(
      new Option("--format <format>", "input format (default: by the file name, or json)").choices([
        "json",
        "csv",
      ]),
    )
    .option("--delimiter <character>", 'character between CSV cells: ",", ";", tab, … (default: ",")')
    .option("--skip-invalid", "import the valid resources, and list the invalid ones")
    .option("--to <url>", "import into a running service: the URL of its collections")
    .option(
      "--token <token>",
      "API key or JSON Web Token of an administrator, for --to (environment: HOLDFAST_TOKEN)",
    )
    .option("--dry-run", "with --to: check everything, and import nothing")
    .addHelpText(
      "after",
      examples(
        "import topics topics.ndjson",
        "import topics topics.ndjson --to http://localhost:3000/api/v1",
        'import topics topics.csv --delimiter ";"',
        "import db.json   # every collection of a json-server database",
      ),
    )
    .action(async (collection: string, file: string | undefined, flags: Flags) => {
      const { runDatabaseImport, runImport } = await import("./import.ts");
      if (file === undefined) await runDatabaseImport(collection, flags, env);
      else await runImport({ name: collection, file }, flags, env);
    });
}

function seedCommand(env: Environment): Command {
  return addStoreOptions(new Command("seed"))
    .description("Fill an empty store with a file")
    .argument(
      "<file>",
      'a JSON object with a list of resources for each collection; "-" reads standard input',
    )
    .option("--skip-invalid", "import the valid resources although others are invalid, and list those")
    .addHelpText("after", examples("seed db.json", "seed db.json && npx holdfast serve"))
    .action(async (file: string, flags: Flags) => (await import("./import.ts")).runSeed(file, flags, env));
}

function exportCommand(env: Environment): Command {
  return addStoreOptions(new Command("export"))
    .summary("Export a collection as NDJSON or CSV")
    .description("Export a collection as NDJSON or CSV. The service can run at the same time.")
    .argument("<collection>", "collection to export")
    .addOption(
      new Option("--format <format>", "output format (default: by the file name, or ndjson)").choices([
        "ndjson",
        "csv",
      ]),
    )
    .option("-o, --output <file>", "write to a file instead of standard output; it appears when complete")
    .addHelpText("after", examples("export topics > topics.ndjson", "export topics -o topics.csv"))
    .action(async (collection: string, flags: Flags) =>
      (await import("./export.ts")).runExport(collection, flags, env),
    );
}

function copyCommand(env: Environment): Command {
  return addStoreOptions(new Command("copy"))
    .summary("Copy a whole store into an empty one")
    .description(
      "Copy a whole store into an empty one, with versions, history, API keys and stored responses. If the copy is interrupted, run the same command again to continue.",
    )
    .option("--from <address>", "store to copy (default: the configured store)")
    .requiredOption("--to <address>", "store to create: sqlite:<file> or postgres://user@host/database")
    .option(
      "--new-identity",
      "make the copy another store: positions in the feed of the source do not work there",
    )
    .addHelpText(
      "after",
      examples("copy --from sqlite:holdfast.db --to postgres://holdfast@localhost/holdfast"),
    )
    .action(async (flags: Flags) => (await import("./copy.ts")).runCopy(flags, env));
}

function backupCommand(env: Environment): Command {
  return addStoreOptions(new Command("backup"))
    .summary("Back up the store into a new file")
    .description(
      "Back up one moment of the whole store into a new SQLite file, and compare the file with the store. The service can run at the same time.",
    )
    .argument("<file>", "file to create; with --every, the time is added to its name")
    .option("--every <time>", "make a backup again and again, such as every 6h, until the command is stopped")
    .option("--keep <number>", "with --every: remove all but the latest backups")
    .addHelpText("after", examples("backup shop-backup.db", "backup backups/shop.db --every 6h --keep 7"))
    .action(async (file: string, flags: Flags) => (await import("./backup.ts")).runBackup(file, flags, env));
}

function restoreCommand(env: Environment): Command {
  return addStoreOptions(new Command("restore"))
    .summary("Create the store from a backup")
    .description(
      "Create the store from a backup. The store must not exist yet. Webhooks are disabled, so that the restored store does not call their receivers again.",
    )
    .argument("<file>", "backup to restore")
    .addHelpText("after", examples("restore shop-backup.db --store sqlite:shop.db"))
    .action(async (file: string, flags: Flags) =>
      (await import("./restore.ts")).runRestore(file, flags, env),
    );
}

function checkCommand(env: Environment): Command {
  return addStoreOptions(new Command("check"))
    .summary("Check the configuration, and whether stored resources fit it")
    .description(
      "Check the configuration, and whether stored resources fit it. The service can run at the same time.",
    )
    .addHelpText("after", examples("check --config holdfast.config.ts"))
    .action(async (flags: Flags) => (await import("./check.ts")).runCheck(flags, env));
}

function rewindCommand(env: Environment): Command {
  return addStoreOptions(new Command("rewind"))
    .summary("Go back in time")
    .description(
      "Return collections to their state at an earlier time, with new versions: all changes, or none. With a SQLite store, stop the service first, or use --url.",
    )
    .requiredOption("--to <time>", "time to go back to, such as 2026-01-31T08:30:00.000Z")
    .option("--collection <name...>", "collections to rewind (default: all)")
    .option("--max <number>", "most resources that can change; required without --dry-run")
    .option("--dry-run", "only say what would change")
    .option("--url <url>", "rewind a running service: the URL of its collections")
    .option(
      "--token <token>",
      "API key or JSON Web Token of an administrator, for --url (environment: HOLDFAST_TOKEN)",
    )
    .addHelpText(
      "after",
      examples(
        "rewind --to 2026-01-31T08:30:00.000Z --dry-run",
        "rewind --to 2026-01-31 --max 100 --collection topics --url http://localhost:3000",
      ),
    )
    .action(async (flags: Flags) => (await import("./rewind.ts")).runRewind(flags, env));
}

function eraseCommand(env: Environment): Command {
  return addStoreOptions(new Command("erase"))
    .summary("Erase a resource and its history permanently")
    .description(
      "Erase a resource and its history permanently, also a resource that is already deleted. With a SQLite store, stop the service first.",
    )
    .argument("<collection>", "collection of the resource")
    .argument("<id>", "id of the resource")
    .addHelpText("after", examples("erase topics 0190f5a0-7c3e-7b1a-9c54-3f1de3a4b5c6"))
    .action(async (collection: string, id: string, flags: Flags) =>
      (await import("./erase.ts")).runErase({ collection, id }, flags, env),
    );
}

function openapiCommand(env: Environment): Command {
  return addStoreOptions(new Command("openapi"))
    .description("Write the OpenAPI document of the configured service")
    .addOption(
      new Option("--version <version>", "OpenAPI version; 3.2 also describes the QUERY method")
        .choices(["3.1", "3.2"])
        .default("3.1"),
    )
    .option("-o, --output <file>", "write to a file instead of standard output")
    .addHelpText("after", examples("openapi --version 3.2 -o openapi.json"))
    .action(async (flags: Flags) => (await import("./openapi.ts")).runOpenapi(flags, env));
}

function typesCommand(env: Environment): Command {
  return addStoreOptions(new Command("types"))
    .summary("Write TypeScript types of the collections")
    .description("Write TypeScript types of the collections, for the typed client in another project")
    .argument("[url]", "running service to read the collections from, instead of the configuration")
    .option(
      "--token <token>",
      "API key or JSON Web Token for the running service (environment: HOLDFAST_TOKEN)",
    )
    .option("-o, --output <file>", "write to a file instead of standard output")
    .addHelpText("after", examples("types -o service.d.ts", "types http://localhost:3000 -o service.d.ts"))
    .action(async (url: string | undefined, flags: Flags) =>
      (await import("./types.ts")).runTypes({ ...flags, url }, env),
    );
}
