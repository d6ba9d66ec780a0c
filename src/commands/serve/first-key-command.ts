/** The command that creates the first API key, as the start prints it. */
import type { FirstKeyPlan } from "../../access/first-key.ts";
import { isPostgresUrl } from "../../store/address.ts";
import type { Environment, Flags } from "../options.ts";

/**
 * The command, for a shell in the folder in which the service was started. It names the configuration file and the store that the
 * service was started with. If a flag gave the password of the store, a second line says where the command takes it from.
 */
export function firstKeyCommand(
  { properties: { name, subject, roles } }: Pick<FirstKeyPlan, "properties">,
  { flags, env }: { flags: Flags; env: Environment },
): string[] {
  const store = storeOf(flags.store, env.HOLDFAST_STORE);
  const given = [
    ["--name", name],
    ...(subject === name ? [] : [["--subject", subject]]),
    ...roles.map((role) => ["--role", role]),
    ...sourceOf("--config", flags.config ?? env.HOLDFAST_CONFIG),
  ].map(([flag, value]) => `${flag} ${shellWord(value ?? "")}`);
  return [
    ["npx holdfast keys create", ...given, ...store.words].join(" "),
    ...(store.needsPassword ? ["(the variable PGPASSWORD must have the password of the store)"] : []),
  ];
}

function sourceOf(flag: string, value: unknown): string[][] {
  return typeof value === "string" && value !== "" ? [[flag, value]] : [];
}

/** The store. A password is not repeated, because the output of a service is often kept. */
function storeOf(flag: unknown, variable: string | undefined): { words: string[]; needsPassword: boolean } {
  const address = flag ?? variable;
  if (typeof address !== "string" || address === "") return { words: [], needsPassword: false };
  const open = withoutPassword(address);
  if (open === address) return { words: [`--store ${shellWord(address)}`], needsPassword: false };
  if (flag === undefined) return { words: ['--store "$HOLDFAST_STORE"'], needsPassword: false };
  return { words: [`--store ${shellWord(open)}`], needsPassword: true };
}

/** The address itself if it has no password. */
function withoutPassword(address: string): string {
  if (!isPostgresUrl(address)) return address;
  const url = new URL(address);
  if (url.password === "" && !url.searchParams.has("password")) return address;
  url.password = "";
  url.searchParams.delete("password");
  return url.href;
}

/** A word of a command, in quotes if a shell would read it otherwise. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
