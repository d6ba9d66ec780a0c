/** Subscribers to one collection, and a writer at a fixed rate, in one program: `feed.ts <plan file>` prints a FeedResult. */
import { readFileSync } from "node:fs";
import { Agent, get, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { sampleAttributes } from "../ratios/sample.ts";

/** What is done. */
export interface FeedPlan {
  port: number;
  /** Open streams of the events of `articles`. */
  subscribers: number;
  /** Creates in a second; 0: nothing is written here. */
  writesPerSecond: number;
  durationMs: number;
}

/** What was seen. Times are in milliseconds. */
export interface FeedResult {
  /** Events that all subscribers got. */
  events: number;
  creates: number;
  createP50: number;
  createP99: number;
  /** From the response to a create to its event, for each subscriber; 0 where the event came first. */
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
let events = 0;

const mark = '"subject":"';
const uuidLength = 36;

function subscribe(): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { accept: "text/event-stream" };
    const call = get({ host, port: plan.port, path: `${path}/_events`, headers, agent: false }, (answer) => {
      if (answer.statusCode !== 200) return reject(new Error(`The stream got ${answer.statusCode}.`));
      resolve();
      let rest = "";
      answer.setEncoding("utf8");
      answer.on("data", (chunk: string) => {
        const at = performance.now();
        rest += chunk;
        let from = 0;
        for (let end = rest.indexOf("\n\n"); end !== -1; end = rest.indexOf("\n\n", from)) {
          const place = rest.indexOf(mark, from);
          if (place !== -1 && place < end) {
            events++;
            if (plan.writesPerSecond > 0)
              arrivals.push({ id: rest.slice(place + mark.length, place + mark.length + uuidLength), at });
          }
          from = end + 2;
        }
        rest = rest.slice(from);
      });
      answer.on("error", () => {}); // the end of the program
    });
    call.on("error", reject);
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
      createMs.push(now - start);
      answeredAt.set((JSON.parse(text) as { id: string }).id, now);
    });
  });
  call.end(body);
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

for (let left = plan.subscribers; left > 0; left -= 50)
  await Promise.all(Array.from({ length: Math.min(left, 50) }, subscribe));

const start = performance.now();
let sent = 0;
while (performance.now() - start < plan.durationMs) {
  const due = ((performance.now() - start) / 1_000) * plan.writesPerSecond;
  while (sent < due) create(sent++);
  await sleep(1);
}
await sleep(500); // what is on its way still counts
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
