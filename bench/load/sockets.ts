/**
 * A closed-loop load generator over raw sockets: each connection sends its next request after the response to the previous one.
 * It makes loads that the well-known generators cannot make: a sequence of requests for each connection (each update names the
 * version that the previous one made), and requests that are sent only once (a resource can be deleted only once).
 *
 * As a program it reads a `LoadPlan` as JSON from the file in its argument and prints a `LoadResult`.
 */
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { type LoadPlan, type LoadResult, serial } from "./plan.ts";

/** Runs a plan in this process. */
export async function runLoad(plan: LoadPlan): Promise<LoadResult> {
  const latencies: number[] = [];
  const statuses: Record<string, number> = {};
  const startAt = performance.now() + plan.warmUpMs;
  const endAt = startAt + plan.durationMs;
  let lastAt = startAt;
  const onAnswer = (status: string, sentAt: number) => {
    const now = performance.now();
    if (now < startAt) return true;
    if (now >= endAt) return false;
    lastAt = now;
    latencies.push(now - sentAt);
    statuses[status] = (statuses[status] ?? 0) + 1;
    return true;
  };
  const sequences = sequencesOf(plan);
  await Promise.all(
    sequences.map((next) =>
      runConnection(connect({ port: plan.port, host: "127.0.0.1", noDelay: true }), next, onAnswer),
    ),
  );
  latencies.sort((a, b) => a - b);
  const at = (share: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? Number.NaN;
  const seconds = (plan.once === true ? lastAt - startAt : plan.durationMs) / 1000;
  return {
    perSecond: latencies.length / seconds,
    answers: latencies.length,
    p50: at(0.5),
    p99: at(0.99),
    statuses,
  };
}

/** Returns the next request of a connection; `undefined` after the last one. */
type Next = () => Buffer | undefined;

/** With `once`, all connections share one list. Otherwise each connection sends it in a circle from another place. */
function sequencesOf({ requests, connections, once }: LoadPlan): Next[] {
  let number = Math.floor(Math.random() * 90_000_000);
  const all = requests.map((text) => (text.includes(serial) ? text : Buffer.from(text)));
  const numbered = (text: Buffer | string | undefined) =>
    typeof text === "string" ? Buffer.from(text.replace(serial, String(++number).padStart(8, "0"))) : text;
  if (once === true) {
    let shared = 0;
    return Array.from({ length: connections }, () => () => numbered(all[shared++]));
  }
  const step = Math.max(1, Math.floor(all.length / connections));
  return Array.from({ length: connections }, (_, index) => {
    let own = index * step;
    return () => numbered(all[own++ % all.length]);
  });
}

type OnAnswer = (status: string, sentAt: number) => boolean;

function runConnection(socket: Socket, next: Next, onAnswer: OnAnswer): Promise<void> {
  return new Promise((resolve, reject) => {
    let sentAt = 0;
    let pending = "";
    const send = () => {
      const request = next();
      if (request === undefined) return socket.destroy();
      sentAt = performance.now();
      return socket.write(request);
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

/** The length of the complete response at the start of the text; Infinity until its headers are complete. */
export function answerLength(text: string): number {
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
