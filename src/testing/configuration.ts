/** The configuration of a service for tests. It differs from the user's only in what is about the machine and other programs. */
import { contentForTests } from "../capabilities/all.ts";
import { type Config, remakeConfig } from "../config.ts";
import { StartError } from "../errors.ts";
import { inMemory } from "../store/address.ts";

/** The options that have no effect here: they are about sockets, threads, files and the program. Those of capabilities are in `forTests`. */
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
  const outside = { flags: {}, env, cwd: process.cwd() };
  const config = await remakeConfig({ file: undefined, content: contentForTests(content), outside });
  return { ...config, store: inMemory };
}
