/** Sends bodies that are made while they are sent. */
import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Admission } from "../admission/ticket.ts";
import { createTurns, type TakeTurn } from "../admission/turns.ts";
import type { StreamedBody } from "../protocol/message.ts";
import { createEncoder } from "./compression.ts";

/** What the streamed responses of one application share. */
export interface Streams {
  admission: Admission;
  takeTurn: TakeTurn;
}

/** The pieces that all streamed responses make in one turn of the event loop, so that many of them do not delay others. */
const piecesPerTurn = 2;

/** The streamed responses of one application. */
export function createStreams(admission: Admission): Streams {
  return { admission, takeTurn: createTurns(() => piecesPerTurn) };
}

/** The errors of Node if the connection closes before the end, or before the start. */
const whenClosed: ReadonlySet<string | undefined> = new Set([
  "ERR_STREAM_PREMATURE_CLOSE",
  "ERR_STREAM_UNABLE_TO_PIPE",
  "ERR_STREAM_DESTROYED",
]);

/**
 * Sends the pieces as fast as the client reads them. Their memory counts as held until the end. Ends early if the connection
 * closes. If making a piece throws, closes the connection, so that the client does not take a part for the whole, and throws
 * the same error.
 */
export async function sendPieces(
  response: ServerResponse,
  { pieces, heldBytes, coding }: StreamedBody,
  { admission, takeTurn }: Streams,
): Promise<void> {
  admission.held += heldBytes;
  try {
    const content = Readable.from(inTurns(pieces, takeTurn));
    await (coding === undefined
      ? pipeline(content, response)
      : pipeline(content, createEncoder(coding), response));
  } catch (error) {
    if (!whenClosed.has((error as NodeJS.ErrnoException).code)) throw error;
  } finally {
    admission.held -= heldBytes;
  }
}

async function* inTurns(pieces: Iterable<string>, takeTurn: TakeTurn): AsyncGenerator<string> {
  await takeTurn();
  for (const piece of pieces) {
    yield piece;
    await takeTurn();
  }
}
