/** Declares `keys` and its commands, as `../declarations.ts` declares the others. */
import { Command } from "commander";
import { addStoreOptions, type Environment, examples, type Flags } from "../options.ts";

/** `keys`, with its commands. */
export function keysCommand(env: Environment): Command {
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
      (await import("../keys.ts")).runCreate(command.optsWithGlobals(), env),
    );
}

function keysList(env: Environment): Command {
  return new Command("list")
    .description("List all API keys, also expired and revoked ones")
    .option("--json", "print one JSON object per line")
    .addHelpText("after", examples("keys list --json"))
    .action(async (_flags: Flags, command: Command) =>
      (await import("./list.ts")).runList(command.optsWithGlobals(), env),
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
      (await import("../keys.ts")).runRotate(key, command.optsWithGlobals(), env),
    );
}

function keysRevoke(env: Environment): Command {
  return new Command("revoke")
    .description("Revoke an API key permanently; the service refuses it within a second")
    .argument("<key>", "name, prefix or full text of the key; a name revokes every key with that name")
    .addHelpText("after", examples("keys revoke deploy"))
    .action(async (key: string, _flags: Flags, command: Command) =>
      (await import("../keys.ts")).runRevoke(key, command.optsWithGlobals(), env),
    );
}
