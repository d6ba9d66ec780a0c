/** Options that are times. */
import type { Option } from "../option.ts";
import { wholeNumber } from "../readers.ts";

/** In milliseconds. */
export const hour = 3_600_000;

/** A time of up to an hour, in milliseconds. */
export const timeout = (fallback: number, about: string): Option<number> => ({
  shownDefault: String(fallback),
  fallback,
  about,
  read: wholeNumber(1, hour),
});
