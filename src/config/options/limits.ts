/** What one client may ask for. */
import type { Rate } from "../../http/caller/rate-limit.ts";
import { defaultLimits } from "../../http/settings.ts";
import type { Option } from "../option.ts";
import { bytes, rate, wholeNumber } from "../readers.ts";
import { timeout } from "./timeout.ts";

const limit = (fallback: number, most: number, about: string): Option<number> => ({
  shownDefault: String(fallback),
  fallback,
  about,
  read: wholeNumber(1, most),
});

/** What one client may ask for, by place in the configuration file. */
export const limitOptions = {
  "limits.body": {
    shownDefault: "`1mb`",
    fallback: defaultLimits.bodyBytes,
    about: "request content, in bytes or as `512kb`, `1mb`",
    read: bytes,
  },
  "limits.target": limit(defaultLimits.targetBytes, 65_536, "request target, in octets"),
  "limits.headers": limit(defaultLimits.headerBytes, 1_048_576, "header section with the target, in bytes"),
  "limits.jsonDepth": limit(defaultLimits.jsonDepth, 256, "nesting of JSON content"),
  "limits.jsonMembers": limit(defaultLimits.jsonMembers, 1_000_000, "members of one JSON object"),
  "limits.patchOperations": limit(defaultLimits.patchOperations, 100_000, "operations of one JSON Patch"),
  "limits.batch": limit(defaultLimits.batch, 1_000, "operations of one batch"),
  "limits.page": limit(
    defaultLimits.page,
    10_000,
    "resources of one page; a larger `limit` is lowered to it",
  ),
  "limits.queryMs": timeout(defaultLimits.queryMs, "until a list that no index serves must be there"),
  "limits.collections": limit(defaultLimits.collections, 100_000, "collections that open mode may create"),
  "limits.headersTimeoutMs": timeout(
    defaultLimits.headersTimeoutMs,
    "until a request's headers must be there",
  ),
  "limits.requestTimeoutMs": timeout(defaultLimits.requestTimeoutMs, "until the whole request must be there"),
  "limits.handlerTimeoutMs": timeout(defaultLimits.handlerTimeoutMs, "until a write must have had its turn"),
  "limits.keepAliveTimeoutMs": timeout(
    defaultLimits.keepAliveTimeoutMs,
    "until an idle connection is closed",
  ),
  "limits.rate": {
    shownDefault: "none",
    fallback: undefined,
    about: "requests of one principal, or else one address: `{ requests: 600, perSeconds: 60 }`",
    read: rate as (value: unknown) => Rate | undefined,
  },
} as const satisfies Record<string, Option<unknown>>;
