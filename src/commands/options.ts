/** The options that several commands share, and the configuration that a command reads with them. */
import { type Command, Option } from "commander";
import { type Option as ConfigOption, options } from "../config/options.ts";
import type { Config, ConfigSources } from "../config.ts";
import { shell } from "./shell.ts";

/** The environment variables of the program. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment variable with the credential for a running service. The flag `--token` overrides it. */
export const tokenVariable = "HOLDFAST_TOKEN";

/** The options of a command line, by camel-case name. */
export type Flags = Readonly<Record<string, unknown>>;

/** Receives the base address of the collections when a service listens. */
export type OnListening = (base: string) => void;

/** Adds the options that choose the configuration file and the store. */
export function addStoreOptions(command: Command): Command {
  command.option("-c, --config <file>", "configuration file (default: holdfast.config.{ts,js,mjs,json})");
  return addFlag(command, options.store);
}

/** Adds every other option of the configuration that has a flag. */
export function addServiceOptions(command: Command): Command {
  const others: ConfigOption<unknown>[] = Object.values(options).filter((option) => option !== options.store);
  for (const option of others) addFlag(command, option);
  return command;
}

function addFlag(command: Command, { flag, about, shownDefault }: ConfigOption<unknown>): Command {
  if (flag === undefined) return command;
  const text = `${about.replaceAll("`", '"')} (default: ${shownDefault.replaceAll("`", "")})`;
  return command.addOption(new Option(flag, text));
}

/** Command lines as examples, for the end of the help of a command. */
export function examples(...commandLines: readonly string[]): string {
  return `\nExample:\n${commandLines.map((line) => `  npx holdfast ${line}\n`).join("")}`;
}

/** The configuration from flags, environment and file. Throws StartError with all faults. */
export async function configOf(
  flags: Flags,
  env: Environment,
  options: Pick<ConfigSources, "reportsFiles" | "onFile"> = {},
): Promise<Config> {
  const { loadConfig } = await import("../config.ts"); // --help does not need it
  return loadConfig({ flags, env, cwd: shell().cwd(), ...options });
}
