/**
 * Checks the Host header. Without this check, any web page could use a service on the loopback address by DNS rebinding: its
 * requests carry the host name of the page.
 */
import { BlockList, isIP } from "node:net";
import { Problem } from "../../errors.ts";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** A Host value (RFC 9112 §3.2): a name, an IPv4 address or `[IPv6]`, with an optional port. */
const hostShape = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]*)?$/i;

/** Whether a name or address is a loopback one. */
export function isLoopback(name: string): boolean {
  if (name === "localhost") return true;
  const family = isIP(name);
  return family !== 0 && loopback.check(name, family === 4 ? "ipv4" : "ipv6");
}

/** An address of a socket. A socket for both families writes an IPv4 address as `::ffff:127.0.0.1`. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/, "");
}

/** The name in a Host value, in lower case and without brackets and port. Throws INVALID_REQUEST. */
function hostName(host: string): string {
  const match = hostShape.exec(host);
  if (!match?.[1]) throw invalidRequest("The Host header is not a valid host name.");
  return match[1].toLowerCase().replace(/^\[|\]$/g, "");
}

/**
 * Makes a check that accepts the loopback names and `names`, or every name for "any". The check throws INVALID_REQUEST for
 * a malformed value.
 */
export function createHostCheck(names: readonly string[] | "any"): (host: string) => boolean {
  const own = names === "any" ? undefined : new Set(names.map((name) => name.toLowerCase()));
  let lastAccepted: string | undefined;
  return (host) => {
    if (host === lastAccepted) return true;
    const name = hostName(host);
    if (own !== undefined && !own.has(name) && !isLoopback(name)) return false;
    lastAccepted = host;
    return true;
  };
}

/** The problem of a request that is not valid HTTP. The connection closes, because the bytes after it cannot be trusted. */
export function invalidRequest(detail: string): Problem {
  return new Problem("INVALID_REQUEST", detail, { headers: { connection: "close" } });
}
