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
    about: "size of a request body: a number of bytes, or a text such as `512kb` or `1mb`",
    read: bytes,
  },
  "limits.target": limit(
    defaultLimits.targetBytes,
    65_536,
    "length of the request target (path and query), in bytes",
  ),
  "limits.headers": limit(
    defaultLimits.headerBytes,
    1_048_576,
    "size of all headers with the request target, in bytes",
  ),
  "limits.jsonDepth": limit(defaultLimits.jsonDepth, 256, "nesting depth of a JSON body"),
  "limits.jsonMembers": limit(defaultLimits.jsonMembers, 1_000_000, "members of one JSON object"),
  "limits.patchOperations": limit(defaultLimits.patchOperations, 100_000, "operations in one JSON Patch"),
  "limits.batch": limit(defaultLimits.batch, 1_000, "operations in one batch"),
  "limits.page": limit(
    defaultLimits.page,
    10_000,
    "resources on one page; the service lowers a larger `limit` to this",
  ),
  "limits.queryMs": timeout(
    defaultLimits.queryMs,
    "how long the service works on a list that cannot use an index",
  ),
  "limits.collections": limit(
    defaultLimits.collections,
    100_000,
    "collections that clients can create in open mode",
  ),
  "limits.headersTimeoutMs": timeout(
    defaultLimits.headersTimeoutMs,
    "how long a client can take to send the headers",
  ),
  "limits.requestTimeoutMs": timeout(
    defaultLimits.requestTimeoutMs,
    "how long a client can take to send the whole request",
  ),
  "limits.handlerTimeoutMs": timeout(
    defaultLimits.handlerTimeoutMs,
    "how long a write can wait before it starts",
  ),
  "limits.keepAliveTimeoutMs": timeout(
    defaultLimits.keepAliveTimeoutMs,
    "how long an idle connection stays open",
  ),
  "limits.rate": {
    shownDefault: "none",
    fallback: undefined,
    about:
      "requests of one caller, or of one IP address without a credential: `{ requests: 600, perSeconds: 60 }`",
    read: rate as (value: unknown) => Rate | undefined,
  },
} as const satisfies Record<string, Option<unknown>>;
