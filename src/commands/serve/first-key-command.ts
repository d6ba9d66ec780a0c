/** The command that creates the first API key, as the start prints it. */
import type { FirstKeyPlan } from "../../access/first-key.ts";
import { isPostgresUrl } from "../../store/address.ts";
import type { Environment, Flags } from "../options.ts";

/**
 * The command, for a shell in the folder in which the service was started. It names the configuration file and the store that the
 * service was started with.
 */
export function firstKeyCommand(
  { properties: { name, subject, roles } }: Pick<FirstKeyPlan, "properties">,
  { flags, env }: { flags: Flags; env: Environment },
): string {
  const given = [
    ["--name", name],
    ...(subject === name ? [] : [["--subject", subject]]),
    ...roles.map((role) => ["--role", role]),
    ...sourceOf("--config", flags.config ?? env.HOLDFAST_CONFIG),
  ].map(([flag, value]) => `${flag} ${shellWord(value ?? "")}`);
  return ["npx holdfast keys create", ...given, ...storeOf(flags.store, env.HOLDFAST_STORE)].join(" ");
}

function sourceOf(flag: string, value: unknown): string[][] {
  return typeof value === "string" && value !== "" ? [[flag, value]] : [];
}

/** The store. A password is not repeated, because the output of a service is often kept. */
function storeOf(flag: unknown, variable: string | undefined): string[] {
  const address = flag ?? variable;
  if (typeof address !== "string" || address === "") return [];
  if (!hasPassword(address)) return [`--store ${shellWord(address)}`];
  return [flag === undefined ? '--store "$HOLDFAST_STORE"' : "--store <the same address>"];
}

function hasPassword(address: string): boolean {
  if (!isPostgresUrl(address)) return false;
  const { password, searchParams } = new URL(address);
  return password !== "" || searchParams.has("password");
}

/** A word of a command, in quotes if a shell would read it otherwise. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
