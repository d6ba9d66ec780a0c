/** The network that an address belongs to: one client usually has all addresses of it. */
import { isIPv4, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";

/** An address with a port, as some proxies write it. IPv6 addresses are then in brackets. */
const withPort = /^(?:([\d.]{7,15}):\d{1,5}|\[([^\]]{2,60})\](?::\d{1,5})?)$/;

/**
 * The network that counts as one client: an IPv4 address, or the /64 of an IPv6 address, because a client with one IPv6 address
 * usually has 2⁶⁴ of them. `unknown` if the text is no address.
 */
export function networkOf(ip = ""): string {
  const address = parse(ip);
  return address instanceof ipaddr.IPv6 ? networkIn(address, 4) : address;
}

/** The network that users see: /24 of IPv4, or /48 of IPv6. It says where a client was, not who. `unknown` as above. */
export function shownNetwork(ip = ""): string {
  const address = parse(ip);
  if (address instanceof ipaddr.IPv6) return networkIn(address, 3);
  return address.replace(/\.\d+$/, ".0/24");
}

/** The text of an IPv4 address, an IPv6 address, or `unknown`: a proxy can send any text, of any length. */
function parse(ip: string): string | ipaddr.IPv6 {
  const [, v4 = ip, v6 = ip] = withPort.exec(ip) ?? [];
  if (isIPv4(v4)) return v4;
  if (!isIPv6(v6)) return "unknown";
  const address = ipaddr.process(v6); // an IPv4-mapped address becomes IPv4
  return address instanceof ipaddr.IPv6 ? address : address.toString();
}

function networkIn(address: ipaddr.IPv6, groups: number): string {
  const network = address.parts.slice(0, groups).map((group) => group.toString(16));
  return `${network.join(":")}::/${16 * groups}`;
}
