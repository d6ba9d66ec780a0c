/**
 * Which receivers a webhook can have. Without this check, a webhook could reach services inside the network of this machine
 * (server-side request forgery).
 */
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** Resolves a host name to all its addresses. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** Resolves as other programs on this machine do, with its hosts file. */
export const resolveHost: Resolve = async (host) =>
  (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);

/** The receivers that are allowed although they are not public, and without encryption: names, addresses and networks. */
export class AllowList {
  readonly #names: ReadonlySet<string>;
  readonly #networks: readonly [ipaddr.IPv4 | ipaddr.IPv6, number][];

  constructor(entries: readonly string[]) {
    this.#networks = entries.map(networkOf).filter((each) => each !== undefined);
    const names = entries.filter((entry) => networkOf(entry) === undefined);
    this.#names = new Set(names.map((name) => name.toLowerCase()));
  }

  /** Whether a name is in the list itself. */
  hasName(host: string): boolean {
    return this.#names.has(host.toLowerCase());
  }

  /** Whether an address is in a network of the list. */
  hasAddress(address: string): boolean {
    if (isIP(address) === 0) return false;
    const parsed = ipaddr.process(address);
    return this.#networks.some(
      ([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits),
    );
  }

  /** Whether a receiver with this host can be reached without encryption. A name can have addresses in the list. */
  mayBePlain(host: string): boolean {
    return this.hasName(host) || (isIP(host) === 0 ? this.#networks.length > 0 : this.hasAddress(host));
  }
}

function networkOf(entry: string): [ipaddr.IPv4 | ipaddr.IPv6, number] | undefined {
  try {
    if (entry.includes("/")) return ipaddr.parseCIDR(entry);
    if (isIP(entry) === 0) return undefined;
    const address = ipaddr.parse(entry);
    return [address, address.kind() === "ipv4" ? 32 : 128];
  } catch {
    return undefined;
  }
}

/** Whether an entry of the option `webhooks.allow` is a name, an address or a network. */
export function isAllowable(entry: string): boolean {
  return networkOf(entry) !== undefined || /^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$/i.test(entry);
}

/** All public IPv6 addresses are in this network. */
const publicIPv6 = ipaddr.parseCIDR("2000::/3") as [ipaddr.IPv6, number];

/** Whether an address is a public one: not private, loopback, link-local, multicast, reserved, or another form of these. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.process(address); // an IPv4-mapped address becomes IPv4
  if (parsed.range() !== "unicast") return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(publicIPv6);
}

/** Thrown if a webhook must not reach its receiver. The message is a sentence for the administrator. */
export class NotAllowed extends Error {
  override readonly name = "NotAllowed";
}

/**
 * Finds the address to connect to. Checks every address of the name, so that a name with one public address and one private
 * cannot pass. Throws NotAllowed, and the errors of the resolver.
 */
export async function allowedAddressOf(
  { protocol, hostname }: Pick<URL, "protocol" | "hostname">,
  { allow, resolve }: { allow: AllowList; resolve: Resolve },
): Promise<string> {
  const host = hostOf(hostname);
  const addresses = isIP(host) === 0 ? await resolve(host) : [host];
  const [first] = addresses;
  if (first === undefined) throw new NotAllowed(`The name ${host} has no address.`);
  const isNamed = allow.hasName(host);
  const isAllowed = (address: string) => isNamed || allow.hasAddress(address);
  const refused = addresses.find((address) => !isAllowed(address) && !isPublicAddress(address));
  if (refused !== undefined) {
    const whose = refused === host ? refused : `${refused}, an address of ${host},`;
    throw new NotAllowed(
      `The service does not connect to ${whose} because it is not public. If it is a receiver of yours, add it to "webhooks.allow" in the configuration.`,
    );
  }
  if (protocol === "http:" && !addresses.every(isAllowed))
    throw new NotAllowed(
      `The service connects to ${host} only with https. For http, add it to "webhooks.allow" in the configuration.`,
    );
  return first;
}

/** The host of a URL without the brackets of IPv6. */
export function hostOf(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "");
}
