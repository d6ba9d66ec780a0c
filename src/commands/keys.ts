/** `holdfast keys`: makes, lists, replaces and revokes API keys, also while a service runs. */
import { Command } from "commander";
import { addStoreOptions, type Environment } from "./options.ts";

/** The command, for the command line. */
export function keysCommand(env: Environment): Command {
  const keys = addStoreOptions(new Command("keys"))
    .summary("Create, list, rotate and revoke API keys")
    .description("Create, list, rotate and revoke API keys. The service can run at the same time.")
    .addHelpText(
      "after",
      "\nExample:\n  npx holdfast keys create --name deploy --role editor --expires 90d\n  npx holdfast keys list\n",
    );
  keys.addCommand(createCommand(env));
  keys.addCommand(listCommand(env));
  keys.addCommand(rotateCommand(env));
  keys.addCommand(revokeCommand(env));
  return keys;
}

function createCommand(env: Environment): Command {
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
    .addHelpText(
      "after",
      "\nExample:\n  npx holdfast keys create --name report --scope articles:read --expires 2027-01-31\n",
    )
    .action(async (flags: Flags, command: Command) => {
      const { runCreate } = await import("./keys/run-create.ts");
      await runCreate(flags, command.optsWithGlobals(), env);
    });
}

function listCommand(env: Environment): Command {
  return new Command("list")
    .description("List all API keys, also expired and revoked ones")
    .option("--json", "print one JSON object per line")
    .addHelpText("after", "\nExample:\n  npx holdfast keys list --json\n")
    .action(async (flags: Flags, command: Command) => {
      const { runList } = await import("./keys/run-list.ts");
      await runList({ asJson: flags.json === true }, command.optsWithGlobals(), env);
    });
}

function rotateCommand(env: Environment): Command {
  return new Command("rotate")
    .description("Replace an API key; the old key keeps working for a while")
    .argument("<key>", "name or prefix of the key to replace")
    .option(
      "--expires <when>",
      "expiry of the new key, as in keys create (default: the lifetime of the old key)",
    )
    .option("--overlap <time>", "how long the old key keeps working; 0m revokes it immediately (default: 1h)")
    .addHelpText("after", "\nExample:\n  npx holdfast keys rotate deploy --overlap 24h\n")
    .action(async (named: string, flags: Flags, command: Command) => {
      const { runRotate } = await import("./keys/run-rotate.ts");
      await runRotate({ ...flags, named }, command.optsWithGlobals(), env);
    });
}

function revokeCommand(env: Environment): Command {
  return new Command("revoke")
    .description("Revoke an API key permanently; the service refuses it within a second")
    .argument("<key>", "name, prefix or full text of the key; a name revokes every key with that name")
    .addHelpText("after", "\nExample:\n  npx holdfast keys revoke deploy\n")
    .action(async (named: string, _flags: Flags, command: Command) => {
      const { runRevoke } = await import("./keys/run-revoke.ts");
      await runRevoke(named, command.optsWithGlobals(), env);
    });
}

type Flags = Record<string, unknown>;

function append(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
