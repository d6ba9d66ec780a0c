/** A receiver of webhooks on the loopback address. It verifies every delivery with the package `standardwebhooks`. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";

/** One request that a receiver got. */
export interface Received {
  id: string;
  headers: IncomingMessage["headers"];
  body: string;
  event: CloudEvent;
}

/** The members of an event that tests look at. */
export interface CloudEvent {
  id: string;
  type: string;
  subject: string;
  source: string;
  version: string;
  data: Record<string, unknown>;
}

/** Decides what a receiver responds. The default is 204. */
export type Respond = (received: Received, response: ServerResponse) => void;

export interface Receiver {
  url: string;
  received: Received[];
  /** The most requests that were open at the same time. */
  mostAtOnce(): number;
  respond: Respond;
  /** With a secret, every delivery is verified. A delivery that is not valid fails the test at `close`. */
  secret: string | undefined;
  close(): Promise<void>;
}

export const accept: Respond = (_, response) => void response.writeHead(204).end();

export async function startReceiver(respond: Respond = accept): Promise<Receiver> {
  const faults: unknown[] = [];
  let open = 0;
  let most = 0;
  const server = createServer(async (request, response) => {
    most = Math.max(most, ++open);
    response.on("close", () => open--);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const { headers } = request;
    try {
      assert.equal(request.method, "POST");
      assert.equal(headers["content-type"], "application/cloudevents+json");
      const event = JSON.parse(body) as CloudEvent;
      assert.equal(headers["webhook-id"], event.id);
      if (receiver.secret !== undefined)
        new Webhook(receiver.secret).verify(body, headers as Record<string, string>);
      const received = { id: event.id, headers, body, event };
      receiver.received.push(received);
      receiver.respond(received, response);
    } catch (error) {
      faults.push(error);
      response.writeHead(500).end();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/hook`,
    received: [],
    mostAtOnce: () => most,
    respond,
    secret: undefined,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
      assert.deepEqual(faults, []);
    },
  };
  return receiver;
}
