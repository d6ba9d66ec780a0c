/** A long array that is stored in pieces. An insert moves only the items of one piece, so many inserts stay fast. */

const pieceLength = 1024;

/** The items of an array, with fast inserts and removals at every index. */
export class LongArray {
  readonly #pieces: unknown[][] = [];
  #length: number;

  constructor(items: readonly unknown[]) {
    this.#length = items.length;
    for (let i = 0; i < items.length; i += pieceLength) this.#pieces.push(items.slice(i, i + pieceLength));
  }

  get length(): number {
    return this.#length;
  }

  /** The item at an index below the length. */
  at(index: number): unknown {
    const { piece, offset } = this.#find(index);
    return piece[offset];
  }

  /** Replaces the item at an index below the length. */
  set(index: number, item: unknown): void {
    const { piece, offset } = this.#find(index);
    piece[offset] = item;
  }

  /** Inserts an item before the one at an index, or at the end if the index is the length. */
  insert(index: number, item: unknown): void {
    const { piece, offset, number } = this.#find(index);
    piece.splice(offset, 0, item);
    this.#length++;
    if (piece.length < 2 * pieceLength) return;
    this.#pieces.splice(number, 1, piece.slice(0, pieceLength), piece.slice(pieceLength));
  }

  /** Removes the item at an index below the length. */
  remove(index: number): void {
    const { piece, offset, number } = this.#find(index);
    piece.splice(offset, 1);
    this.#length--;
    if (piece.length === 0 && this.#pieces.length > 1) this.#pieces.splice(number, 1);
  }

  /** Replaces the items of a plain array with these. */
  writeTo(array: unknown[]): void {
    array.length = 0;
    for (const piece of this.#pieces) for (const item of piece) array.push(item);
  }

  /** The piece that contains an index. The index after the last item belongs to the last piece. */
  #find(index: number): { piece: unknown[]; offset: number; number: number } {
    let offset = index;
    for (const [number, piece] of this.#pieces.entries()) {
      if (offset < piece.length || number === this.#pieces.length - 1) return { piece, offset, number };
      offset -= piece.length;
    }
    const piece: unknown[] = [];
    this.#pieces.push(piece);
    return { piece, offset, number: 0 };
  }
}
