/** Quotas: which one a request counts against, and the headers that state it (draft-ietf-httpapi-ratelimit-headers-11). */
import { isIPv4, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";
import type { Principal } from "../../access/principal.ts";
import { Problem } from "../../errors.ts";
import type { Quota, Quotas } from "../limits/rate-limit.ts";
import type { HttpRequest } from "../protocol/message.ts";
import type { Rate } from "../settings.ts";

/**
 * Counts a request for its principal, or without one for the address that it came from. Requests with an invalid credential
 * count for the address, so that the client learns nothing about the owner of a revoked credential. Throws
 * QUOTA_EXCEEDED.
 */
export function takeFromQuota(
  quotas: Quotas,
  principal: Principal | undefined,
  { client }: HttpRequest,
): Quota {
  const quota =
    principal === undefined
      ? quotas.addresses.take(addressKey(client.ip))
      : quotas.principals.take(principal.subject);
  if (quota.isExceeded) throw quotaExceeded(quota, quotas.addresses.rate);
  return quota;
}

/** Adds the headers for the remaining quota of the caller, or of the address if the request was not counted. */
export function addQuotaHeaders(
  headers: Record<string, string>,
  quotas: Quotas,
  quota: Quota | undefined,
  { client }: HttpRequest,
): void {
  const { rate } = quotas.addresses;
  headers["ratelimit-policy"] = `"default";q=${rate.requests};w=${rate.perSeconds}`;
  headers.ratelimit ??= rateLimitOf(quota ?? quotas.addresses.look(addressKey(client.ip)));
}

function rateLimitOf({ remaining, resetSeconds }: Quota): string {
  return `"default";r=${remaining};t=${resetSeconds}`;
}

function quotaExceeded(quota: Quota, { requests, perSeconds }: Rate): Problem {
  const { resetSeconds } = quota;
  return new Problem(
    "QUOTA_EXCEEDED",
    `The limit is ${requests} requests in ${perSeconds} seconds for each caller. Try again in ${resetSeconds} seconds.`,
    { headers: { "retry-after": String(resetSeconds), ratelimit: rateLimitOf(quota) } },
  );
}

/** An address with a port, as some proxies write it. IPv6 addresses are then in brackets. */
const withPort = /^(?:([\d.]{7,15}):\d{1,5}|\[([^\]]{2,60})\](?::\d{1,5})?)$/;

/** The key that an address counts under. A client with one IPv6 address usually has 2⁶⁴ of them, so they count as one. */
export function addressKey(address = ""): string {
  const [, v4 = address, v6 = address] = withPort.exec(address) ?? [];
  if (isIPv4(v4)) return v4;
  return isIPv6(v6) ? networkOf(v6) : "unknown"; // a proxy can send any text, of any length
}

function networkOf(address: string): string {
  const parsed = ipaddr.process(address); // an IPv4-mapped address becomes IPv4
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const network = parsed.parts.slice(0, 4).map((group) => group.toString(16));
  return `${network.join(":")}::/64`;
}
