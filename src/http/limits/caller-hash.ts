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
    const whole = length & ~1;
    let v0 = k0;
    let v1 = k1 ^ 0xee;
    let v2 = 0x6c796765 ^ k0;
    let v3 = 0x74656462 ^ k1;

    function round(): void {
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

    function add(word: number): void {
      v3 ^= word;
      round();
      round();
      v0 ^= word;
    }

    function finish(): number {
      for (let n = 0; n < 4; n++) round();
      return v1 ^ v3;
    }

    for (let n = 0; n < whole; n += 2) add(caller.charCodeAt(n) | (caller.charCodeAt(n + 1) << 16));
    add(((length * 2) << 24) | (whole < length ? caller.charCodeAt(whole) : 0));
    v2 ^= 0xee;
    const low = finish() >>> 0;
    v1 ^= 0xdd;
    const high = finish() >>> 11; // 21 bits: with the others, a number holds them exactly
    return high * 2 ** 32 + low;
  };
}
