/** The rows of `holdfast users`. They load the code that does the work only when the command runs. */
import { type CommandLine, type CommandRow, urlOptions } from "../../command.ts";
import type { OpenUsers } from "./open-users.ts";
import type { PeopleSettings } from "./user-settings.ts";

/** What the commands get. */
export type UsersLine = CommandLine<OpenUsers, PeopleSettings | undefined>;

export const commands: Readonly<Record<string, CommandRow<UsersLine>>> = {
  users: {
    summary: "Invite users, and manage their accounts",
    description:
      "Invite users, and manage their accounts. Works on a store, or with --url on a running service.",
    options: urlOptions,
    examples: ["users invite ada@example.org --role ops", "users list --url http://localhost:3000"],
    commands: {
      invite: {
        description:
          "Invite an address, and print the link, this one time; with --url, a mail brings it instead",
        arguments: { "<email>": "address to invite" },
        options: {
          "--role <role>": {
            about: "role of the account; repeat the option for several roles",
            repeats: true,
          },
        },
        run: async ([email]: [string], line) => (await import("./commands.ts")).runInvite(email, line),
      },
      list: {
        description: "Print every account as a line of JSON",
        run: async (_, line) => (await import("./commands.ts")).runUsersList(line),
      },
      roles: {
        description: "Give an account these roles, in place of those that it has",
        arguments: {
          "<account>": "address or id of the account",
          "[roles]": "roles with commas between them",
        },
        run: async ([account, roles = ""]: [string, string | undefined], line) =>
          (await import("./commands.ts")).runRoles(account, roles.split(",").filter(Boolean), line),
      },
      disable: {
        description: "Disable an account, and end its sessions",
        arguments: { "<account>": "address or id of the account" },
        run: async ([account]: [string], line) =>
          (await import("./commands.ts")).runDisable(account, true, line),
      },
      enable: {
        description: "Enable an account again",
        arguments: { "<account>": "address or id of the account" },
        run: async ([account]: [string], line) =>
          (await import("./commands.ts")).runDisable(account, false, line),
      },
      "sign-out": {
        description: "End all sessions of an account",
        arguments: { "<account>": "address or id of the account" },
        run: async ([account]: [string], line) => (await import("./commands.ts")).runSignOut(account, line),
      },
      "reset-factors": {
        description: "Remove the second factor and the passkeys of an account whose user has lost them",
        arguments: { "<account>": "address or id of the account" },
        run: async ([account]: [string], line) =>
          (await import("./commands.ts")).runResetFactors(account, line),
      },
      mirror: {
        description: "Write the attributes of auth.users.mirror into the profiles of all accounts",
        run: async (_, line) => (await import("./commands.ts")).runMirror(line),
      },
    },
  },
};
