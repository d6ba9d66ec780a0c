/** How the service stops. */
import type { Option } from "../option.ts";
import { wholeNumber } from "../readers.ts";
import { hour, timeout } from "./timeout.ts";

/** How the service stops, by place in the configuration file. */
export const stopOptions = {
  drainDelayMs: {
    shownDefault: "500",
    fallback: 500,
    about: "time between turning readiness off and closing the listener, when the service stops",
    read: wholeNumber(0, hour),
  },
  stopTimeoutMs: timeout(10_000, "how long a graceful stop can take before the service exits anyway"),
} as const satisfies Record<string, Option<unknown>>;
