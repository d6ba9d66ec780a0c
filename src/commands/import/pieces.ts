/** What an input is taken apart into. */

/** Where in the input something is. */
export interface Place {
  line: number;
  /** Which element of the array; `undefined` in NDJSON. */
  element?: number;
}

/** One text of the input, or made of what is there (nobody knows its lines and columns), or what is wrong with it. */
export type Piece =
  | { kind: "text"; place: Place; bytes: Buffer; isMade?: true }
  | { kind: "bad"; place: Place; reason: string }
  /** Nothing after this can be told apart any more. */
  | { kind: "broken"; place: Place; reason: string };

/** What a part of the input came to. */
export interface Pieces {
  pieces: readonly Piece[];
  /** How much of the input has been read. */
  bytes: number;
}

/** Takes bytes as they come and gives the pieces that they complete. */
export interface Splitter {
  push(chunk: Buffer): Piece[];
  /** The pieces that the end of the input completes. */
  end(): Piece[];
}
