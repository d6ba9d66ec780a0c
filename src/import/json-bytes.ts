/** The bytes that divide a JSON text. Every other character of UTF-8 has only bytes that differ from these. */
export const byte = {
  quote: 0x22,
  backslash: 0x5c,
  comma: 0x2c,
  colon: 0x3a,
  openBracket: 0x5b,
  closeBracket: 0x5d,
  openBrace: 0x7b,
  closeBrace: 0x7d,
} as const;

export function isOpening(next: number): boolean {
  return next === byte.openBrace || next === byte.openBracket;
}

export function isClosing(next: number): boolean {
  return next === byte.closeBrace || next === byte.closeBracket;
}

export function isPunctuation(next: number): boolean {
  return (
    isOpening(next) || isClosing(next) || next === byte.comma || next === byte.colon || next === byte.quote
  );
}

/** The white space of JSON (RFC 8259 section 2). */
export function isBlank(next: number): boolean {
  return next === 0x20 || next === 0x0a || next === 0x0d || next === 0x09;
}
