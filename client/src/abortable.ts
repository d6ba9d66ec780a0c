/** Iterators that a caller can end while they wait for a value. */

/**
 * The iterator of a generator that takes a signal. `return` aborts the signal, so it also ends a `next` that waits. An ordinary
 * generator would wait for its next value first.
 */
export function abortable<T>(
  outer: AbortSignal | undefined,
  generate: (signal: AbortSignal) => AsyncGenerator<T, void, undefined>,
): AsyncGenerator<T, void, undefined> {
  const over = new AbortController();
  const generator = generate(outer === undefined ? over.signal : AbortSignal.any([outer, over.signal]));
  const done = { done: true, value: undefined } as const;
  const orDone = (error: unknown) => {
    if (over.signal.aborted) return done;
    throw error;
  };
  return {
    next: () => generator.next().catch(orDone),
    return: () => {
      over.abort();
      return generator.return().catch(orDone);
    },
    throw: (error) => {
      over.abort();
      return generator.throw(error);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  } as AsyncGenerator<T, void, undefined>;
}
