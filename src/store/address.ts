/** Addresses of stores: how they are parsed, and how messages show them. */
import { isAbsolute, resolve } from "node:path";
import { StartError } from "../errors.ts";
import { readDatabaseUrl } from "./postgres/url.ts";

/** The address of a store. */
export type StoreAddress = { kind: "sqlite"; path: string } | { kind: "postgres"; url: string };

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
