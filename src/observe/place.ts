/** Where the metrics are served: the option `metrics`. */
import { isIP } from "node:net";

/** An address of its own. */
export interface MetricsAddress {
  host: string;
  port: number;
}

/** `administrators`: at `/metrics` of the service, for administrators. */
export type MetricsPlace = "administrators" | MetricsAddress;

/** The host of an address that names only a port. */
const loopback = "127.0.0.1";

/** Reads the option. Throws an Error whose message says what is right. */
export function readMetricsPlace(value: unknown): MetricsPlace | undefined {
  if (value === "administrators") return value;
  if (typeof value !== "string" && typeof value !== "number") throw new Error(hint);
  const [, bracketed, plain, digits] = addressShape.exec(String(value)) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65_535) throw new Error(hint);
  if (bracketed !== undefined && isIP(bracketed) !== 6) throw new Error(hint);
  return { host: bracketed ?? plain ?? loopback, port };
}

/** `9464`, `localhost:9464` or `[::1]:9464`. */
const addressShape = /^(?:\[([0-9a-f:.]+)\]:|([a-z0-9._-]+):)?([0-9]{1,5})$/i;

const hint =
  'must be "administrators", a port such as 9464, or an address such as "127.0.0.1:9464" or "[::1]:9464"';

/** The address as a URL shows it: IPv6 addresses in brackets. */
export function hostAndPort({ host, port }: MetricsAddress): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}
