/** Declares `webhooks` and its commands, as `../declarations.ts` declares the others. */
import { Command } from "commander";
import { addStoreOptions, type Environment, examples, type Flags } from "../options.ts";

/** `webhooks`, with its commands. */
export function webhooksCommand(env: Environment): Command {
  const webhooks = addStoreOptions(new Command("webhooks"))
    .summary("List, test and retry webhooks")
    .description(
      "List webhooks, and send events to their receivers. Works on a store, or with --url on a running service.",
    )
    .option("--url <url>", "use a running service: the URL of its collections")
    .option(
      "--token <token>",
      "API key or JSON Web Token of an administrator, for --url (environment: HOLDFAST_TOKEN)",
    )
    .addHelpText(
      "after",
      examples(
        "webhooks list",
        "webhooks test 0190f5a0-7c3e-7b1a-9c54-3f1de3a4b5c6 --url http://localhost:3000",
      ),
    );
  const list = new Command("list")
    .description("Print every webhook as a line of JSON. The service can run at the same time.")
    .action(async (_: Flags, command: Command) =>
      (await import("../webhooks.ts")).runWebhooksList(command.optsWithGlobals(), env),
    );
  const test = new Command("test")
    .description("Send a test event. If a service runs on the SQLite store, give its --url.")
    .argument("<id>", "id of the webhook")
    .action(async (id: string, _: Flags, command: Command) =>
      (await import("../webhooks.ts")).runWebhooksTest(id, command.optsWithGlobals(), env),
    );
  const retry = new Command("retry")
    .description("Send an event again. If a service runs on the SQLite store, give its --url.")
    .argument("<id>", "id of the webhook")
    .argument("<event>", "id of the event")
    .action(async (id: string, event: string, _: Flags, command: Command) =>
      (await import("../webhooks.ts")).runWebhooksRetry({ id, event }, command.optsWithGlobals(), env),
    );
  for (const part of [list, test, retry]) webhooks.addCommand(part);
  return webhooks;
}
