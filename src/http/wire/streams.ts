/** Sends bodies that are made while they are sent: large responses, and streams of events, which have no end. */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Admission } from "../admission/ticket.ts";
import { createTurns, type TakeTurn } from "../admission/turns.ts";
import type { LiveBody, StreamedBody } from "../protocol/message.ts";
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

/** How long a client can still read when the service stops, in milliseconds. */
const stopGraceMs = 2_000;

/**
 * Sends the parts of a body as fast as the client reads them, until they end or the connection closes. A client that takes no
 * byte for `idleMs` while some wait for it is cut off.
 */
export async function sendLive(
  out: ServerResponse,
  { live, stopping }: LiveBody,
  { connection, idleMs }: { connection: Socket; idleMs: number },
): Promise<void> {
  const gone = new AbortController();
  const onClose = () => {
    onEnd();
    stopping.removeEventListener("abort", onStop);
  };
  const onEnd = () => gone.abort(); // a client that has gone looks the same as one that only stops sending
  const onStop = () => {
    const timer = setTimeout(() => connection.destroy(), stopGraceMs);
    connection.once("close", () => clearTimeout(timer));
  };
  if (stopping.aborted) onStop();
  stopping.addEventListener("abort", onStop);
  if (connection.destroyed) onClose();
  if (connection.readableEnded) onEnd();
  connection.once("close", onClose).once("end", onEnd);
  out.flushHeaders();
  try {
    for await (const part of live(gone.signal)) {
      if (gone.signal.aborted) break;
      if (!out.write(part)) await untilDrained(out, { connection, idleMs }, gone.signal);
    }
    out.end();
  } finally {
    connection.off("end", onEnd);
    if (!stopping.aborted) {
      connection.off("close", onClose);
      stopping.removeEventListener("abort", onStop);
    }
    gone.abort();
  }
}

function untilDrained(
  out: ServerResponse,
  { connection, idleMs }: { connection: Socket; idleMs: number },
  gone: AbortSignal,
): Promise<void> {
  const taken = () => connection.bytesWritten - connection.writableLength;
  let before = taken();
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      const now = taken();
      if (now === before) connection.destroy();
      before = now;
    }, idleMs);
    const done = () => {
      clearInterval(timer);
      out.off("drain", done);
      gone.removeEventListener("abort", done);
      resolve();
    };
    out.on("drain", done);
    gone.addEventListener("abort", done);
    if (gone.aborted || !out.writableNeedDrain) done();
  });
}
