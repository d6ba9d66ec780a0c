/** A receiver of webhooks on the loopback address. It verifies every delivery with the package `standardwebhooks`. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
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

/** Decides the response of a receiver. The default is 204. */
export type Respond = (received: Received, response: ServerResponse) => void;

export interface Receiver {
  url: string;
  received: Received[];
  /** The most requests that were open at the same time. */
  mostAtOnce(): number;
  /** The connections that it got so far, and those that are open. */
  connections(): number;
  openConnections(): Promise<number>;
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
  let connections = 0;
  const server = createServer({ keepAliveTimeout: 0 }, async (request, response) => {
    most = Math.max(most, ++open);
    response.on("close", () => open--);
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return; // the service has ended the connection: it got no response and will repeat it
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
  server.on("connection", () => connections++);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/hook`,
    received: [],
    mostAtOnce: () => most,
    connections: () => connections,
    openConnections: async () => promisify(server.getConnections.bind(server))(),
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
