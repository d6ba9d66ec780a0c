/** Sends live bodies, that is, streams of events. They have no end. */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { LiveBody } from "../protocol/message.ts";

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
