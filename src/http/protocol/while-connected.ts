/** Cancels work whose client has gone. */
import { Problem } from "../../errors.ts";
import type { HttpRequest } from "./message.ts";

/** Does some work. Its signal aborts if the connection closes first. */
export async function whileConnected<T>(
  { socket }: Pick<HttpRequest, "socket">,
  work: (signal: () => AbortSignal) => Promise<T>,
): Promise<T> {
  let gone: AbortController | undefined;
  const onClose = () => gone?.abort(clientWentAway());
  const watch = () => {
    gone = new AbortController();
    if (socket.destroyed) onClose();
    else socket.once("close", onClose);
    return gone;
  };
  try {
    return await work(() => (gone ?? watch()).signal);
  } finally {
    if (gone !== undefined) socket.off("close", onClose);
  }
}

function clientWentAway(): Problem {
  return new Problem("INVALID_REQUEST", "The connection closed before the list was ready.");
}
