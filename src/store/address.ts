/** Addresses of stores: how they are parsed, and how messages show them. */
import { isAbsolute, resolve } from "node:path";
import { didYouMean } from "../collection/messages.ts";
import { StartError } from "../errors.ts";
import { memoryPath } from "./port/options.ts";

/** The address of a store. */
export type StoreAddress = { kind: "sqlite"; path: string } | { kind: "postgres"; url: string };

/** The address of a store in memory, which ends when it is closed. Only the thread that opens it can use it. */
export const inMemory: StoreAddress = { kind: "sqlite", path: memoryPath };

/** Whether an address is that of a store in memory. Its service has one thread, and writes no files. */
export function isInMemory(address: StoreAddress): boolean {
  return address.kind === "sqlite" && address.path === memoryPath;
}

/** Whether an address is that of a PostgreSQL database. */
export function isPostgresUrl(address: string): boolean {
  return /^postgres(ql)?:/.test(address);
}

/** The address as messages show it, without the user name and the password. */
export function shownAddress(address: StoreAddress): string {
  if (address.kind === "sqlite") return address.path;
  const { hostname, port, pathname, searchParams } = new URL(address.url);
  const host = hostname || searchParams.get("host") || "localhost";
  return `postgres://${host}${port === "" ? "" : `:${port}`}${pathname}`;
}

/**
 * Parses an address: `sqlite:<path>`, a path alone, or `postgres://…`. A relative path starts at `cwd`. Throws StartError.
 * The message starts with `as`, the name of the option or argument that contains the address.
 */
export function readAddress(address: string, { cwd, as }: { cwd: string; as: string }): StoreAddress {
  if (isPostgresUrl(address)) return { kind: "postgres", url: readDatabaseUrl(address, as) };
  const path = address.replace(/^sqlite:(\/\/)?/, "");
  if (path === "" || path.startsWith(":") || /^[a-z]{2,}:/i.test(path)) {
    throw new StartError(
      // The message does not repeat the address, because an address can contain a password.
      `${as}: this is not a store address. Write sqlite:<file>, such as sqlite:holdfast.db, or postgres://user@host/database.`,
    );
  }
  return { kind: "sqlite", path: isAbsolute(path) ? path : resolve(cwd, path) };
}

/** The parameters of the package `pg` that an address can have. Other parameters could change the meaning of results. */
const parameters = [
  "sslmode",
  "sslrootcert",
  "sslcert",
  "sslkey",
  "sslnegotiation",
  "host",
  "port",
  "user",
  "password",
  "application_name",
  "options",
];

/** The values of `sslmode`. The driver distinguishes only these three. */
const sslModes = ["disable", "no-verify", "verify-full"];

/** Other values that become `verify-full`, which is stricter. */
const aliasOfVerifyFull = /([?&]sslmode=)(?:require|verify-ca)(?=&|$)/;

/**
 * The address in the form of the driver. Throws StartError if it is not an address, or if it has a parameter that would
 * be ignored, such as a misspelled `sslmode`. The message does not contain the address, because it can contain a
 * password.
 */
function readDatabaseUrl(address: string, as: string): string {
  if (!URL.canParse(address) || new URL(address).pathname.length <= 1)
    throw new StartError(`${as}: this is not a database address. Write postgres://user@host/database.`);
  const url = address.replace(aliasOfVerifyFull, "$1verify-full");
  const { searchParams } = new URL(url);
  for (const name of new Set(searchParams.keys())) requireParameter(name, searchParams.getAll(name), as);
  return url;
}

function requireParameter(name: string, values: readonly string[], as: string): void {
  const subject = `${as}: the database address`;
  if (!parameters.includes(name)) {
    const known = didYouMean(name, parameters) || ` Known parameters: ${parameters.join(", ")}.`;
    throw new StartError(`${subject} has an unknown parameter "${name.slice(0, 40)}".${known}`);
  }
  if (values.length > 1) throw new StartError(`${subject} has the parameter "${name}" twice.`);
  if (name === "sslmode" && !sslModes.includes(values[0] ?? ""))
    throw new StartError(`${subject} must have one of these values for sslmode: ${sslModes.join(", ")}.`);
}
