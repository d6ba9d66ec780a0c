/** `holdfast keys`: makes, lists, replaces and revokes API keys, also while a service runs. */
import { Command } from "commander";
import { addStoreOptions, type Environment } from "./options.ts";

/** The command, for the command line. */
export function keysCommand(env: Environment): Command {
  const keys = addStoreOptions(new Command("keys"))
    .description("make, list, replace and revoke API keys, also while the service runs")
    .addHelpText("after", "\nExample:\n  holdfast keys create --name deploy --role editor --expires 90d\n");
  keys.addCommand(createCommand(env));
  keys.addCommand(listCommand(env));
  keys.addCommand(rotateCommand(env));
  keys.addCommand(revokeCommand(env));
  return keys;
}

function createCommand(env: Environment): Command {
  return new Command("create")
    .description("make a key; it stands alone on standard output, and is shown this once")
    .requiredOption("--name <name>", "what the key is called in lists")
    .option("--subject <subject>", "whom it stands for (default: its name)")
    .option("--role <role>", "a role of its holder; may be given several times", append)
    .option(
      "--scope <scope>",
      "what it is narrowed to, such as articles:read; may be given several times (default: not narrowed)",
      append,
    )
    .option("--expires <when>", "after a time such as 90d, 12h or 30m, or at a date (default: never)")
    .action(async (flags: Flags, command: Command) => {
      const { runCreate } = await import("./keys/run-create.ts");
      await runCreate(flags, command.optsWithGlobals(), env);
    });
}

function listCommand(env: Environment): Command {
  return new Command("list")
    .description("list all keys, those that have ended too")
    .option("--json", "as lines of JSON")
    .action(async (flags: Flags, command: Command) => {
      const { runList } = await import("./keys/run-list.ts");
      await runList({ asJson: flags.json === true }, command.optsWithGlobals(), env);
    });
}

function rotateCommand(env: Environment): Command {
  return new Command("rotate")
    .description("make a key in the place of another, which works on for a while")
    .argument("<key>", "the other's name or prefix")
    .option("--expires <when>", "as with create (default: it lasts as long as the other was made for)")
    .option("--overlap <time>", "how long the other works on (default: 1h; 0m ends it at once)")
    .action(async (named: string, flags: Flags, command: Command) => {
      const { runRotate } = await import("./keys/run-rotate.ts");
      await runRotate({ ...flags, named }, command.optsWithGlobals(), env);
    });
}

function revokeCommand(env: Environment): Command {
  return new Command("revoke")
    .description("end a key for good: within a second nobody gets in with it any more")
    .argument("<key>", "its name, its prefix or all of it; a name ends every key of that name")
    .action(async (named: string, _flags: Flags, command: Command) => {
      const { runRevoke } = await import("./keys/run-revoke.ts");
      await runRevoke(named, command.optsWithGlobals(), env);
    });
}

type Flags = Record<string, unknown>;

function append(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
