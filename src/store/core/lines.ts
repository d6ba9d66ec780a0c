/** What waits for a turn: a line for each caller. Callers take turns, and what one caller waits for keeps its order. */
export class Lines<T extends { readonly caller: string }> {
  /** The caller whose turn is next comes first. */
  readonly #lines = new Map<string, Set<T>>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(each: T): void {
    const line = this.#lines.get(each.caller);
    if (line === undefined) this.#lines.set(each.caller, new Set([each]));
    else line.add(each);
    this.#length++;
  }

  /** What is next. */
  peek(): T | undefined {
    for (const line of this.#lines.values()) for (const each of line) return each;
    return undefined;
  }

  /** Takes what is next. The next turn of its caller comes after those of all others. */
  take(): T | undefined {
    const next = this.peek();
    if (next === undefined) return undefined;
    this.remove(next);
    const { caller } = next;
    const line = this.#lines.get(caller);
    this.#lines.delete(caller);
    if (line !== undefined) this.#lines.set(caller, line);
    return next;
  }

  /** Removes one that waits. Has no effect on others. */
  remove(each: T): void {
    const line = this.#lines.get(each.caller);
    if (line?.delete(each) !== true) return;
    if (line.size === 0) this.#lines.delete(each.caller);
    this.#length--;
  }

  /** What the caller with the longest line waits for, in order. */
  longest(): readonly T[] {
    let longest: ReadonlySet<T> = new Set();
    for (const line of this.#lines.values()) if (line.size > longest.size) longest = line;
    return [...longest];
  }

  all(): readonly T[] {
    return Array.from(this.#lines.values(), (line) => [...line]).flat();
  }
}
