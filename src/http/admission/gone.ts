/** Notices that a client goes away while it waits for its response, and cancels its work. */
import type { Socket } from "node:net";
import type { Principal } from "../../access/principal.ts";
import { Problem } from "../../errors.ts";
import type { ReadClient } from "../../store/port/page.ts";
import { type Counted, nameOfCaller } from "./quotas.ts";

/** The part of a request that this needs. */
export interface Connected {
  /** @default unknown */
  readonly method?: string | undefined;
  readonly socket: Pick<Socket, "destroyed" | "readableEnded" | "on" | "off">;
}

/**
 * How long a read continues after its client has closed its sending side, in milliseconds. The client can wait for the
 * response, or have gone: both look the same. A write always continues, because its client must learn whether it took effect.
 */
const graceMs = 1_000;

/** Calls `callback` when the client has probably gone, or soon if it has gone already. Returns a function that stops this. */
export function onGone(request: Connected, callback: () => void): () => void {
  const { socket } = request;
  let timer: NodeJS.Timeout | undefined;
  const onEnd = () => {
    if (isRead(request)) timer = setTimeout(callback, graceMs);
  };
  let isWatched = true;
  if (socket.destroyed) process.nextTick(() => isWatched && callback());
  else if (socket.readableEnded) onEnd();
  socket.on("end", onEnd).on("close", callback);
  return () => {
    isWatched = false;
    clearTimeout(timer);
    socket.off("end", onEnd).off("close", callback);
  };
}

/** Whether a request only reads. */
export function isRead({ method }: { readonly method?: string | undefined }): boolean {
  return method === "GET" || method === "HEAD" || method === "QUERY";
}

/** Does some work for a caller. The signal of its client aborts if the connection closes first. */
export async function whileConnected<T>(
  caller: Caller,
  request: Connected & Counted,
  work: (client: () => ReadClient) => Promise<T>,
): Promise<T> {
  let gone: AbortController | undefined;
  let stopWatching = () => {};
  const abort = () => gone?.abort(clientWentAway());
  const watch = () => {
    gone = new AbortController();
    if (request.socket.destroyed) abort();
    else stopWatching = onGone(request, abort);
    return gone;
  };
  try {
    return await work(() => ({ caller: nameOfCaller(caller, request), signal: (gone ?? watch()).signal }));
  } finally {
    stopWatching();
  }
}

interface Caller {
  readonly principal: Principal | undefined;
}

function clientWentAway(): Problem {
  return new Problem("INVALID_REQUEST", "The connection closed before the list was ready.");
}
