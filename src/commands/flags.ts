/** The flags of a command line, and the configuration that a command reads with them. */
import type { Config, ConfigSources } from "../config.ts";
import { StartError } from "../errors.ts";
import { durationOf } from "../readers.ts";
import { shell } from "./shell.ts";

/** The environment variables of the program. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment variable with the credential for a running service. The flag `--token` overrides it. */
export const tokenVariable = "HOLDFAST_TOKEN";

/** The options of a command line, by camel-case name. */
export type Flags = Readonly<Record<string, unknown>>;

/** Receives the base address of the collections when a service listens. */
export type OnListening = (base: string) => void;

/** The configuration from flags, environment and file. Throws StartError with all faults. */
export async function configOf(
  flags: Flags,
  env: Environment,
  options: Pick<ConfigSources, "reportsFiles" | "onFile"> = {},
): Promise<Config> {
  const { loadConfig } = await import("../config.ts"); // --help does not need it
  return loadConfig({ flags, env, cwd: shell().cwd(), ...options });
}

/** A time such as 90d, 12h or 30m, in milliseconds. Throws StartError. */
export function parseDuration(text: string, flag: string): number {
  const duration = durationOf(text);
  if (duration !== undefined) return duration;
  throw new StartError(`${flag} must be a time such as 90d, 12h or 30m, not "${text}".`);
}
