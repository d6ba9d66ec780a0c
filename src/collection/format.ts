/** What a format of schemas is. `formats.ts` has all of them. */

/** One format. It accepts every value of a type that it is not for. */
export interface Format {
  test: (value: unknown) => boolean;
  /** Completes “must be …”. */
  expected: string;
  /** The code of a violation. @default "format" */
  code?: string;
}

/**
 * Longer strings have no format, except "byte" and the hints. No address is longer, and the regular expressions take
 * time.
 */
const maxLength = 8192;

/** A format of texts. */
export function ofText(fits: (text: string) => boolean, expected: string): Format {
  return {
    test: (value) => typeof value !== "string" || (value.length <= maxLength && fits(value)),
    expected,
  };
}

/** A format of numbers. */
export function ofNumber(fits: (value: number) => boolean, expected: string): Format {
  return { test: (value) => typeof value !== "number" || fits(value), expected };
}
