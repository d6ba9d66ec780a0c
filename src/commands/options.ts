/** Options that several commands share, and what they come to. */
import { type Command, Option } from "commander";
import type { Option as TableOption } from "../config/option.ts";
import { options } from "../config/options.ts";
import type { Config, ConfigSources } from "../config.ts";

/** The environment that the program was started in. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Adds the options that say which configuration and which store are meant. */
export function addStoreOptions(command: Command): Command {
  return command
    .addOption(
      new Option("-c, --config <file>", "configuration file (default: holdfast.config.{ts,js,mjs,json})"),
    )
    .addOption(flagOf(options.store));
}

/** Adds every other option of the configuration that has a flag. */
export function addServiceOptions(command: Command): Command {
  const others: TableOption<unknown>[] = Object.values(options).filter((option) => option !== options.store);
  for (const { flag, ...option } of others) {
    if (flag !== undefined) command.addOption(flagOf({ flag, ...option }));
  }
  return command;
}

function flagOf({ flag, about, shownDefault }: Described): Option {
  return new Option(flag, `${about.replaceAll("`", '"')} (default: ${shownDefault.replaceAll("`", "")})`);
}

type Described = Required<Pick<TableOption<unknown>, "flag" | "about" | "shownDefault">>;

/** The configuration from flags, environment and file. Throws StartError with all faults. */
export async function configOf(
  flags: Readonly<Record<string, unknown>>,
  env: Environment,
  { reportsFiles = false, onFile }: Pick<ConfigSources, "reportsFiles" | "onFile"> = {},
): Promise<Config> {
  const { loadConfig } = await import("../config.ts"); // --help needs none of what it brings along
  return loadConfig({ flags, env, cwd: process.cwd(), reportsFiles, ...(onFile && { onFile }) });
}
