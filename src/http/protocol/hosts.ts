/**
 * Which Host names are ours. Without authentication any web page could otherwise reach a service on the
 * loopback address by DNS rebinding: the browser would send the page's own name.
 */
import { BlockList, isIP } from "node:net";
import { Problem } from "../../errors.ts";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** The shape of a Host value (RFC 9112 §3.2): a name, an IPv4 address or `[IPv6]`, and maybe a port. */
const hostShape = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]*)?$/i;

/** Whether the name or address is one of this machine's loopback ones. */
export function isLoopback(name: string): boolean {
  if (name === "localhost") return true;
  const family = isIP(name);
  return family !== 0 && loopback.check(name, family === 4 ? "ipv4" : "ipv6");
}

/** The name in a Host value, in lower case and without brackets and port; throws INVALID_REQUEST. */
export function hostName(host: string): string {
  const match = hostShape.exec(host);
  if (!match?.[1]) throw invalidRequest("The Host header is not a valid host name.");
  return match[1].toLowerCase().replace(/^\[|\]$/g, "");
}

/** A check of Host values against the loopback names and `names`; throws INVALID_REQUEST for a malformed one. */
export function createHostCheck(names: readonly string[]): (host: string) => boolean {
  const own = new Set(names.map((name) => name.toLowerCase()));
  let lastOwn: string | undefined;
  return (host) => {
    if (host === lastOwn) return true;
    const name = hostName(host);
    const isOwn = own.has(name) || isLoopback(name);
    if (isOwn) lastOwn = host;
    return isOwn;
  };
}

/** A check for a service whose callers must say who they are: every name is one of it; throws INVALID_REQUEST for a malformed one. */
export function createAnyHostCheck(): (host: string) => boolean {
  let lastSound: string | undefined;
  return (host) => {
    if (host !== lastSound) hostName(host);
    lastSound = host;
    return true;
  };
}

/** The problem of a request that is not sound HTTP. What follows it on the connection cannot be trusted either. */
export function invalidRequest(detail: string): Problem {
  return new Problem("INVALID_REQUEST", detail, { headers: { connection: "close" } });
}
