/** Cancels work whose client has gone. */
import { Problem } from "../../errors.ts";
import type { ReadClient } from "../../store/port/page.ts";
import { onGone } from "../limits/gone.ts";
import type { HttpRequest } from "../protocol/message.ts";
import type { Caller } from "./admit.ts";
import { addressKey } from "./quota.ts";

/** Does some work for a caller. The signal of its client aborts if the connection closes first. */
export async function whileConnected<T>(
  caller: Caller,
  request: HttpRequest,
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
    return await work(() => ({ caller: keyOf(caller, request), signal: (gone ?? watch()).signal }));
  } finally {
    stopWatching();
  }
}

/** A caller without a credential is known by the address. */
function keyOf({ principal }: Caller, { client }: HttpRequest): string {
  return principal === undefined ? `address ${addressKey(client.ip)}` : `principal ${principal.subject}`;
}

function clientWentAway(): Problem {
  return new Problem("INVALID_REQUEST", "The connection closed before the list was ready.");
}
