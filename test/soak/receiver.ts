/** A receiver of webhooks that fails sometimes. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A running receiver. */
export interface Receiver {
  url: string;
  /** The deliveries that it accepted, and those that it refused. */
  figures(): { accepted: number; refused: number };
  close(): void;
}

const refusedEach = 5;

/**
 * Starts a receiver that refuses each fifth delivery with 500. It accepts the first retry of each, so that the number of
 * deliveries that wait stays the same.
 */
export async function startReceiver(): Promise<Receiver> {
  let count = 0;
  let refused = 0;
  const waiting = new Set<string>();
  const server = createServer((request, response) => {
    const id = String(request.headers["webhook-id"]);
    request.resume().on("end", () => {
      const isRefused = ++count % refusedEach === 0 && !waiting.has(id);
      waiting.delete(id);
      if (isRefused) {
        refused++;
        waiting.add(id);
      }
      response.writeHead(isRefused ? 500 : 204).end();
    });
    request.on("error", () => {}); // the service was restarted
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    figures: () => ({ accepted: count - refused, refused }),
    close: () => server.close().closeAllConnections(),
  };
}
