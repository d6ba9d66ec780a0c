/** Numbers for callers: shared memory cannot hold their names. */

/** Makes the number of a caller: a whole number below 2⁵³. */
export type CallerHash = (caller: string) => number;

/** The integers of a key. */
export const keyIntegers = 2;

/**
 * Makes numbers that look random to everyone without the key: HalfSipHash-2-4 of the UTF-16 text. So nobody can choose a name
 * that has the number of another caller. `key`: two random integers.
 */
export function createCallerHash([k0 = 0, k1 = 0]: readonly number[]): CallerHash {
  return (caller) => {
    const { length } = caller;
    const words = (length >>> 1) + 1; // the last one contains the length
    let v0 = k0;
    let v1 = k1 ^ 0xee;
    let v2 = 0x6c796765 ^ k0;
    let v3 = 0x74656462 ^ k1;
    let low = 0;
    for (let step = 0; step < words + 2; step++) {
      const word = step < words ? wordOf(caller, step) : 0;
      if (step < words) v3 ^= word;
      else if (step === words) v2 ^= 0xee;
      else v1 ^= 0xdd;
      for (let round = step < words ? 2 : 4; round > 0; round--) {
        v0 = (v0 + v1) | 0;
        v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
        v0 = (v0 << 16) | (v0 >>> 16);
        v2 = (v2 + v3) | 0;
        v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
        v0 = (v0 + v3) | 0;
        v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
        v2 = (v2 + v1) | 0;
        v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
        v2 = (v2 << 16) | (v2 >>> 16);
      }
      v0 ^= word;
      if (step === words) low = v1 ^ v3;
    }
    // 21 and 32 bits: a number holds them exactly.
    return ((v1 ^ v3) >>> 11) * 2 ** 32 + (low >>> 0);
  };
}

/** Two characters. The last word has one or none, and the length in bytes. */
function wordOf(text: string, word: number): number {
  const at = word * 2;
  if (at + 1 < text.length) return text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16);
  return ((text.length * 2) << 24) | (at < text.length ? text.charCodeAt(at) : 0);
}
