/**
 * A closed-loop load generator over raw sockets: each connection sends its next request when the answer to the last
 * one is there. The well-known generators that run on Node take more time for a request than the service does, and so
 * would measure themselves.
 *
 * As a program it reads a `LoadPlan` as JSON from the file in its argument and prints a `LoadResult`.
 */
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";

/** What is to be sent, and for how long. */
export interface LoadPlan {
  port: number;
  connections: number;
  /** Not counted, to warm up. */
  warmUpMs: number;
  durationMs: number;
  /** Requests to choose from, as text; each connection starts at another one and goes round. */
  requests: readonly string[];
}

/** What came back while it was counted. */
export interface LoadResult {
  perSecond: number;
  /** Milliseconds from sending to the whole answer. */
  p50: number;
  p99: number;
  /** How many answers had each status. */
  statuses: Record<string, number>;
}

/** Runs a plan in this process. */
export async function runLoad(plan: LoadPlan): Promise<LoadResult> {
  const requests = plan.requests.map((text) => Buffer.from(text));
  const latencies: number[] = [];
  const statuses: Record<string, number> = {};
  const startAt = performance.now() + plan.warmUpMs;
  const endAt = startAt + plan.durationMs;
  const onAnswer = (status: string, sentAt: number) => {
    const now = performance.now();
    if (now < startAt) return true;
    if (now >= endAt) return false;
    latencies.push(now - sentAt);
    statuses[status] = (statuses[status] ?? 0) + 1;
    return true;
  };
  const step = Math.max(1, Math.floor(requests.length / plan.connections));
  await Promise.all(
    Array.from({ length: plan.connections }, (_, index) =>
      runConnection(connect({ port: plan.port, host: "127.0.0.1", noDelay: true }), {
        requests,
        first: index * step,
        onAnswer,
      }),
    ),
  );
  latencies.sort((a, b) => a - b);
  const at = (share: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? Number.NaN;
  return { perSecond: latencies.length / (plan.durationMs / 1000), p50: at(0.5), p99: at(0.99), statuses };
}

interface Connection {
  requests: readonly Buffer[];
  first: number;
  onAnswer: (status: string, sentAt: number) => boolean;
}

function runConnection(socket: Socket, { requests, first, onAnswer }: Connection): Promise<void> {
  return new Promise((resolve, reject) => {
    let next = first;
    let sentAt = 0;
    let pending = "";
    const send = () => {
      sentAt = performance.now();
      socket.write(requests[next++ % requests.length] as Buffer);
    };
    socket.on("data", (chunk: Buffer) => {
      pending = pending === "" ? chunk.toString("latin1") : pending + chunk.toString("latin1");
      if (pending.length < answerLength(pending)) return;
      const status = pending.slice(9, 12);
      pending = "";
      if (onAnswer(status, sentAt)) send();
      else socket.destroy();
    });
    socket.on("connect", send);
    socket.on("close", () => resolve());
    socket.on("error", reject);
  });
}

/** The length of the whole answer that begins here; Infinity while its header section is not complete. */
function answerLength(text: string): number {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return Number.POSITIVE_INFINITY;
  const length = /content-length: *(\d+)/i.exec(text.slice(0, end));
  return end + 4 + Number(length?.[1] ?? 0);
}

if (import.meta.main) {
  process.stdout.write(
    JSON.stringify(await runLoad(JSON.parse(readFileSync(process.argv[2] as string, "utf8")) as LoadPlan)),
  );
}
