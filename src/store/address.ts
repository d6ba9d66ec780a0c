/** Where a store is, and how that is written and shown. */

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
