/** A client of the soak: one connection, ordinary requests, and requests of clients that are slow or go away. */
import { once } from "node:events";
import { Agent, type ClientRequest, type IncomingMessage, request } from "node:http";
import { setTimeout as pass } from "node:timers/promises";

/** A response; `undefined` if the connection ended first. */
export type Answer = { status: number; etag: string; text: string } | undefined;

/** A client. */
export interface Client {
  send(method: string, path: string, content?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Sends a body in pieces, with pauses. */
  sendSlowly(path: string, content: unknown): Promise<Answer>;
  /** Sends half of a body and goes away. */
  giveUp(path: string): Promise<void>;
  /** Requests a list, reads its first bytes and goes away. */
  stopReading(path: string): Promise<void>;
  close(): void;
}

/** Creates a client with a connection that it keeps. */
export function createClient(port: number): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const open = (method: string, path: string, headers: Record<string, string> = {}, own?: Agent) =>
    request({ host: "127.0.0.1", port, method, path: `/api/v1${path}`, headers, agent: own ?? agent });
  const json = { "content-type": "application/json" };
  return {
    async send(method, path, content, headers = {}) {
      const text =
        content === undefined ? "" : typeof content === "string" ? content : JSON.stringify(content);
      const call = open(method, path, {
        ...json,
        "content-length": String(Buffer.byteLength(text)),
        ...headers,
      });
      call.end(text);
      return answerTo(call);
    },
    async sendSlowly(path, content) {
      const text = JSON.stringify(content);
      const call = open("POST", path, { ...json, "content-length": String(text.length) });
      const answer = answerTo(call);
      const pieces = 5;
      for (let piece = 0; piece < pieces && !call.destroyed; piece++) {
        call.write(text.slice((piece * text.length) / pieces, ((piece + 1) * text.length) / pieces));
        await pass(200);
      }
      call.end();
      return answer;
    },
    async giveUp(path) {
      const call = open("POST", path, { ...json, "content-length": "10000" }, new Agent());
      call.on("error", () => {});
      call.write('{"text":"');
      await pass(50);
      call.destroy();
    },
    async stopReading(path) {
      const call = open("GET", path, {}, new Agent());
      call.on("error", () => {});
      call.end();
      await Promise.race([once(call, "response").catch(() => {}), pass(2_000)]);
      call.destroy();
    },
    close: () => agent.destroy(),
  };
}

async function answerTo(call: ClientRequest): Promise<Answer> {
  try {
    const [response] = (await once(call, "response")) as [IncomingMessage];
    let text = "";
    for await (const chunk of response.setEncoding("utf8")) text += chunk;
    return { status: response.statusCode ?? 0, etag: String(response.headers.etag), text };
  } catch {
    return undefined;
  }
}
