/** The configuration of a service for tests. It differs from the user's only in what is about the machine and other programs. */
import type { Config } from "../config.ts";
import { remakeConfig } from "../config.ts";
import { StartError } from "../errors.ts";
import { isObject } from "../json/values.ts";
import { inMemory } from "../store/address.ts";
import { standInKeys } from "./stand-in-keys.ts";

/** The options that have no effect here: they are about sockets, threads, files and the program. */
const withoutEffect = [
  "store",
  "host",
  "port",
  "publicUrl",
  "hosts",
  "tls",
  "requireTls",
  "trustProxy",
  "threads",
  "log",
  "metrics",
  "console",
  "drainDelayMs",
  "stopTimeoutMs",
  "mail",
] as const;

/** Checks a configuration. Throws StartError with its faults. */
export async function configurationForTests(
  given: object,
  env: Readonly<Record<string, string>>,
): Promise<Config> {
  const content = Object.fromEntries(
    Object.entries(given).filter(([name]) => !(withoutEffect as readonly string[]).includes(name)),
  );
  if (content.readOnly === true)
    throw new StartError(
      "readOnly: a service for tests is empty at first, so its content would never change. Leave it out: { ...config, readOnly: false }.",
    );
  if (isObject(content.auth) && isObject(content.auth.jwt))
    content.auth = { ...content.auth, jwt: withOwnKeys(content.auth.jwt) };
  const outside = { flags: {}, env, cwd: process.cwd() };
  return { ...(await remakeConfig({ file: undefined, content, outside })), store: inMemory };
}

/** Keys at a URL or in a file would have to be read. No token fits the ones in their place. */
function withOwnKeys(jwt: Readonly<Record<string, unknown>>): object {
  return typeof jwt.jwks === "string" ? { ...jwt, jwks: standInKeys } : jwt;
}
