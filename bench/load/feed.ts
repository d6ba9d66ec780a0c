/** Subscribers to one collection, and a writer at a fixed rate, in one program: `feed.ts <plan file>` prints a FeedResult. */
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { sampleAttributes } from "../ratios/sample.ts";

/** A measurement of a feed. */
export interface FeedPlan {
  port: number;
  /** Open streams of the events of `articles`. */
  subscribers: number;
  /** Creates per second. 0: this program writes nothing. */
  writesPerSecond: number;
  /** Creates before this time are not counted, in milliseconds. @default 0 */
  warmUpMs?: number;
  durationMs: number;
}

/** The result. Times are in milliseconds. */
export interface FeedResult {
  /** The number of events with a recorded time. */
  events: number;
  creates: number;
  createP50: number;
  createP99: number;
  /** The time from the response to a create to its event at each subscriber; 0 if the event came first. */
  eventP50: number;
  eventP99: number;
}

const plan = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as FeedPlan;
const host = "127.0.0.1";
const path = "/api/v1/articles";
const agent = new Agent({ keepAlive: true, maxSockets: 64 });
const answeredAt = new Map<string, number>();
const arrivals: { id: string; at: number }[] = [];
const createMs: number[] = [];
let countedFrom = Number.POSITIVE_INFINITY;
let events = 0;

const mark = '"subject":"';
const uuidLength = 36;

/** The number of subscribers that record the times of events. The others only read their sockets. */
const timedSubscribers = 20;

/** The buffer that all sockets share. */
const buffer = Buffer.alloc(256 * 1024);

/** Reads a socket without a parser of HTTP, because the measurement must take little time compared with the service. */
function subscribe(n: number): Promise<void> {
  const isTimed = plan.writesPerSecond > 0 && n < timedSubscribers;
  return new Promise((resolve, reject) => {
    let rest = "";
    let isOpen = false;
    const open = (text: string) => {
      isOpen = true;
      text.startsWith("HTTP/1.1 200 ") ? resolve() : reject(new Error(`The stream got ${text}`));
    };
    const take = (text: string) => {
      const at = performance.now();
      rest += text;
      let from = 0;
      for (let end = rest.indexOf("\n\n"); end !== -1; end = rest.indexOf("\n\n", from)) {
        const place = rest.indexOf(mark, from);
        if (place !== -1 && place < end) {
          events++;
          arrivals.push({ id: rest.slice(place + mark.length, place + mark.length + uuidLength), at });
        }
        from = end + 2;
      }
      rest = rest.slice(from);
    };
    const socket = connect({
      host,
      port: plan.port,
      onread: {
        buffer,
        callback: (length) => {
          if (!isOpen) open(buffer.toString("latin1", 0, length));
          if (isTimed) take(buffer.toString("latin1", 0, length));
          return true;
        },
      },
    });
    socket.write(`GET ${path}/_events HTTP/1.1\r\nhost: ${host}\r\naccept: text/event-stream\r\n\r\n`);
    socket.once("error", reject);
    socket.on("error", () => {}); // the end of the server
  });
}

function create(n: number): void {
  const body = JSON.stringify(sampleAttributes(n));
  const start = performance.now();
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  const call = request({ host, port: plan.port, path, method: "POST", headers, agent }, (answer) => {
    let text = "";
    answer.setEncoding("utf8");
    answer.on("data", (chunk: string) => {
      text += chunk;
    });
    answer.on("end", () => {
      if (answer.statusCode !== 201) throw new Error(`A create got ${answer.statusCode}.`);
      const now = performance.now();
      if (start >= countedFrom) createMs.push(now - start);
      answeredAt.set((JSON.parse(text) as { id: string }).id, now);
    });
  });
  call.end(body);
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

for (let n = 0; n < plan.subscribers; n += 50)
  await Promise.all(Array.from({ length: Math.min(plan.subscribers - n, 50) }, (_, k) => subscribe(n + k)));

const start = performance.now();
countedFrom = start + (plan.warmUpMs ?? 0);
let sent = 0;
if (plan.writesPerSecond === 0) await sleep(plan.durationMs);
while (performance.now() < countedFrom + plan.durationMs) {
  const due = ((performance.now() - start) / 1_000) * plan.writesPerSecond;
  while (sent < due) create(sent++);
  await sleep(1);
}
await sleep(500); // events on their way still count
const lags = arrivals.flatMap(({ id, at }) => {
  const answered = answeredAt.get(id);
  return answered === undefined ? [] : [Math.max(0, at - answered)];
});
const result: FeedResult = {
  events,
  creates: createMs.length,
  createP50: percentile(createMs, 0.5),
  createP99: percentile(createMs, 0.99),
  eventP50: percentile(lags, 0.5),
  eventP99: percentile(lags, 0.99),
};
process.stdout.write(JSON.stringify(result), () => process.exit(0));
