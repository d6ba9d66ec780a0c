/**
 * Declares every command: its arguments, its options and its help. The code that does the work is imported only when
 * the command runs, so `--help` starts quickly.
 */
import { Command, Option } from "commander";
import {
  addServiceOptions,
  addStoreOptions,
  type Environment,
  type Flags,
  type OnListening,
} from "./options.ts";

/** Every command, in the order of the help. */
export function createCommands(env: Environment, onListening?: OnListening): Command[] {
  return [
    serveCommand(env, onListening),
    importCommand(env),
    seedCommand(env),
    exportCommand(env),
    copyCommand(env),
    checkCommand(env),
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
      "Import resources from a file: all of them, or none if one is invalid. With a SQLite store, stop the service first.",
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
    .addHelpText(
      "after",
      examples(
        "import topics topics.ndjson",
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

function checkCommand(env: Environment): Command {
  return addStoreOptions(new Command("check"))
    .summary("Check the configuration, and whether stored resources fit it")
    .description(
      "Check the configuration, and whether stored resources fit it. The service can run at the same time.",
    )
    .addHelpText("after", examples("check --config holdfast.config.ts"))
    .action(async (flags: Flags) => (await import("./check.ts")).runCheck(flags, env));
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

function webhooksCommand(env: Environment): Command {
  const webhooks = addStoreOptions(new Command("webhooks"))
    .summary("List, test and retry webhooks")
    .description("List webhooks, and send events to their receivers.")
    .addHelpText("after", examples("webhooks list", "webhooks test 0190f5a0-7c3e-7b1a-9c54-3f1de3a4b5c6"));
  const list = new Command("list")
    .description("Print every webhook as a line of JSON. The service can run at the same time.")
    .action(async (_: Flags, command: Command) =>
      (await import("./webhooks.ts")).runWebhooksList(command.optsWithGlobals(), env),
    );
  const test = new Command("test")
    .description("Send a test event. With a SQLite store, stop the service first.")
    .argument("<id>", "id of the webhook")
    .action(async (id: string, _: Flags, command: Command) =>
      (await import("./webhooks.ts")).runWebhooksTest(id, command.optsWithGlobals(), env),
    );
  const retry = new Command("retry")
    .description("Send an event again. With a SQLite store, stop the service first.")
    .argument("<id>", "id of the webhook")
    .argument("<event>", "id of the event")
    .action(async (id: string, event: string, _: Flags, command: Command) =>
      (await import("./webhooks.ts")).runWebhooksRetry({ id, event }, command.optsWithGlobals(), env),
    );
  for (const part of [list, test, retry]) webhooks.addCommand(part);
  return webhooks;
}

function keysCommand(env: Environment): Command {
  const keys = addStoreOptions(new Command("keys"))
    .summary("Create, list, rotate and revoke API keys")
    .description("Create, list, rotate and revoke API keys. The service can run at the same time.")
    .addHelpText("after", examples("keys create --name deploy --role editor --expires 90d", "keys list"));
  for (const part of [keysCreate(env), keysList(env), keysRotate(env), keysRevoke(env)])
    keys.addCommand(part);
  return keys;
}

function keysCreate(env: Environment): Command {
  const append = (value: string, before: readonly string[] = []) => [...before, value];
  return new Command("create")
    .description("Create an API key and print it, this one time")
    .requiredOption("--name <name>", "name of the key in lists and messages")
    .option("--subject <subject>", "caller that the key identifies (default: the name)")
    .option("--role <role>", "role of the caller; repeat the option for several roles", append)
    .option(
      "--scope <scope>",
      "restrict the key to a scope such as articles:read; repeat the option for several scopes (default: no restriction)",
      append,
    )
    .option(
      "--expires <when>",
      "expiry: a time from now such as 90d, 12h or 30m, or a date such as 2027-01-31 (default: never)",
    )
    .addHelpText("after", examples("keys create --name report --scope articles:read --expires 2027-01-31"))
    .action(async (_flags: Flags, command: Command) =>
      (await import("./keys.ts")).runCreate(command.optsWithGlobals(), env),
    );
}

function keysList(env: Environment): Command {
  return new Command("list")
    .description("List all API keys, also expired and revoked ones")
    .option("--json", "print one JSON object per line")
    .addHelpText("after", examples("keys list --json"))
    .action(async (_flags: Flags, command: Command) =>
      (await import("./keys/list.ts")).runList(command.optsWithGlobals(), env),
    );
}

function keysRotate(env: Environment): Command {
  return new Command("rotate")
    .description("Replace an API key; the old key keeps working for a while")
    .argument("<key>", "name or prefix of the key to replace")
    .option(
      "--expires <when>",
      "expiry of the new key, as in keys create (default: the lifetime of the old key)",
    )
    .option("--overlap <time>", "how long the old key keeps working; 0m revokes it immediately (default: 1h)")
    .addHelpText("after", examples("keys rotate deploy --overlap 24h"))
    .action(async (key: string, _flags: Flags, command: Command) =>
      (await import("./keys.ts")).runRotate(key, command.optsWithGlobals(), env),
    );
}

function keysRevoke(env: Environment): Command {
  return new Command("revoke")
    .description("Revoke an API key permanently; the service refuses it within a second")
    .argument("<key>", "name, prefix or full text of the key; a name revokes every key with that name")
    .addHelpText("after", examples("keys revoke deploy"))
    .action(async (key: string, _flags: Flags, command: Command) =>
      (await import("./keys.ts")).runRevoke(key, command.optsWithGlobals(), env),
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
    .option("--token <token>", "API key or JSON Web Token for the running service")
    .option("-o, --output <file>", "write to a file instead of standard output")
    .addHelpText("after", examples("types -o service.d.ts", "types http://localhost:3000 -o service.d.ts"))
    .action(async (url: string | undefined, flags: Flags) =>
      (await import("./types.ts")).runTypes({ ...flags, url }, env),
    );
}

function examples(...commandLines: readonly string[]): string {
  return `\nExample:\n${commandLines.map((line) => `  npx holdfast ${line}\n`).join("")}`;
}
