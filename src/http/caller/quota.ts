/**
 * Whose quota a request takes from, and what answers tell of it
 * (the fields of draft-ietf-httpapi-ratelimit-headers-11).
 */
import { isIPv4, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";
import { Problem } from "../../errors.ts";
import type { HttpRequest } from "../message.ts";
import { type Quota, type Rate, RateCounts, type RateCountsOptions } from "./rate-limit.ts";

/**
 * The quotas of everybody who calls. Addresses are counted apart from principals, so that a crowd of addresses cannot
 * make the service forget what a principal has used.
 */
export interface Quotas {
  readonly principals: RateCounts;
  readonly addresses: RateCounts;
}

/** Quotas of which nothing is used. */
export function createQuotas(rate: Rate, options?: RateCountsOptions): Quotas {
  return { principals: new RateCounts(rate, options), addresses: new RateCounts(rate, options) };
}

/**
 * Counts the request: for its principal, or for the address that it came from where it has none. A credential that does
 * not hold is nobody's, so that whoever has one that was revoked learns nothing of its owner. Throws QUOTA_EXCEEDED.
 */
export function takeFromQuota(quotas: Quotas, request: HttpRequest): void {
  const { principal } = request;
  const quota =
    principal === undefined
      ? quotas.addresses.take(addressKey(request.client.ip))
      : quotas.principals.take(principal.subject);
  request.quota = quota;
  if (quota.isExceeded) throw quotaExceeded(quota, quotas.addresses.rate);
}

/** Adds what is left of the quota; a request that was not counted is told what its address has. */
export function addQuotaHeaders(
  headers: Record<string, string>,
  quotas: Quotas,
  { quota, client }: HttpRequest,
): void {
  const { rate } = quotas.addresses;
  const { remaining, resetSeconds } = quota ?? quotas.addresses.look(addressKey(client.ip));
  headers["ratelimit-policy"] = `"default";q=${rate.requests};w=${rate.perSeconds}`;
  headers.ratelimit = `"default";r=${remaining};t=${resetSeconds}`;
}

function quotaExceeded({ resetSeconds }: Quota, { requests, perSeconds }: Rate): Problem {
  return new Problem(
    "QUOTA_EXCEEDED",
    `The limit is ${requests} requests in ${perSeconds} seconds for each caller. Try again in ${resetSeconds} seconds.`,
    { headers: { "retry-after": String(resetSeconds) } },
  );
}

/** As some proxies write an address: with the port behind it, one of IPv6 then in brackets. */
const withPort = /^(?:([\d.]{7,15}):\d{1,5}|\[([^\]]{2,60})\](?::\d{1,5})?)$/;

/** Who has one IPv6 address usually has the 2⁶⁴ around it, so they count as one. */
export function addressKey(address = ""): string {
  const [, v4 = address, v6 = address] = withPort.exec(address) ?? [];
  if (isIPv4(v4)) return v4;
  return isIPv6(v6) ? networkOf(v6) : "unknown"; // a proxy may pass on any text, of any length
}

function networkOf(address: string): string {
  const parsed = ipaddr.process(address); // one that stands for an IPv4 address is that
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const network = parsed.parts.slice(0, 4).map((group) => group.toString(16));
  return `${network.join(":")}::/64`;
}
