/** Where a store is, and how that is written and shown. */
import { isAbsolute, resolve } from "node:path";
import { StartError } from "../errors.ts";
import { readDatabaseUrl } from "./postgres/url.ts";

/** Where the resources are kept. */
export type StoreAddress = { kind: "sqlite"; path: string } | { kind: "postgres"; url: string };

/** Whether an address is one of a PostgreSQL database. */
export function isPostgresUrl(address: string): boolean {
  return /^postgres(ql)?:/.test(address);
}

/** The address for people to read: without a password. */
export function shownAddress(address: StoreAddress): string {
  if (address.kind === "sqlite") return address.path;
  const { hostname, port, pathname, searchParams } = new URL(address.url);
  const host = hostname || searchParams.get("host") || "localhost";
  return `postgres://${host}${port === "" ? "" : `:${port}`}${pathname}`;
}

/**
 * Reads an address as a person writes it: `sqlite:path` or a path alone, from `cwd`, or `postgres://…`. Throws StartError,
 * which says what the address was given as.
 */
export function readAddress(address: string, { cwd, as }: { cwd: string; as: string }): StoreAddress {
  if (isPostgresUrl(address)) return { kind: "postgres", url: readDatabaseUrl(address, as) };
  const path = address.replace(/^sqlite:(\/\/)?/, "");
  if (path === "" || path.startsWith(":") || /^[a-z]{2,}:/i.test(path)) {
    throw new StartError(
      // Not shown: an address may hold a password.
      `${as}: this is not a store address. Write sqlite:<file>, such as sqlite:holdfast.db, or postgres://user@host/database.`,
    );
  }
  return { kind: "sqlite", path: isAbsolute(path) ? path : resolve(cwd, path) };
}
