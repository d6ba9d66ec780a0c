/** Notices that a client goes away while it waits for its response. */
import type { Socket } from "node:net";

/** The part of a request that this needs. */
export interface Connected {
  /** @default unknown */
  readonly method?: string;
  readonly socket: Pick<Socket, "destroyed" | "readableEnded" | "on" | "off">;
}

/**
 * How long a read continues after its client has closed its sending side, in milliseconds. The client can wait for the
 * response, or have gone: both look the same. A write always continues, because its client must learn whether it took effect.
 */
const graceMs = 1_000;

/** Calls `callback` when the client has probably gone. Returns a function that stops this. */
export function onGone(request: Connected, callback: () => void): () => void {
  const { socket } = request;
  let timer: NodeJS.Timeout | undefined;
  const onEnd = () => {
    if (isRead(request)) timer = setTimeout(callback, graceMs);
  };
  if (socket.readableEnded) onEnd();
  socket.on("end", onEnd).on("close", callback);
  return () => {
    clearTimeout(timer);
    socket.off("end", onEnd).off("close", callback);
  };
}

/** Whether a request only reads. */
export function isRead({ method }: { readonly method?: string | undefined }): boolean {
  return method === "GET" || method === "HEAD" || method === "QUERY";
}
