/** Something that befell lines of the input: how many, and the first of them. */
export class Tally {
  readonly #shown: number;
  readonly #first: { line: number; what: string }[] = [];
  #count = 0;

  constructor(shown: number) {
    this.#shown = shown;
  }

  get count(): number {
    return this.#count;
  }

  add(line: number, what = ""): void {
    this.#count++;
    if (this.#first.length < this.#shown) this.#first.push({ line, what });
  }

  /** The first ones, in the order of their lines. */
  first(): readonly { line: number; what: string }[] {
    return this.#first.toSorted((a, b) => a.line - b.line);
  }
}
