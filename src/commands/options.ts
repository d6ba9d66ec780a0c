/** Options that several commands share, and what they come to. */
import { type Command, Option } from "commander";
import type { Config } from "../config.ts";

/** The environment that the program was started in. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Adds the options that say which configuration and which store are meant. */
export function addStoreOptions(command: Command): Command {
  return command
    .addOption(
      new Option("-c, --config <file>", "configuration file (default: holdfast.config.{ts,js,mjs,json})"),
    )
    .addOption(
      new Option("-s, --store <address>", "where the resources are kept (default: sqlite:holdfast.db)"),
    );
}

/** The configuration that flags, environment and file come to. Throws StartError. */
export async function configOf(flags: Readonly<Record<string, unknown>>, env: Environment): Promise<Config> {
  const { loadConfig } = await import("../config.ts"); // --help needs none of what it brings along
  return loadConfig({ flags, env, cwd: process.cwd() });
}
