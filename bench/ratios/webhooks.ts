/** How many deliveries of webhooks the service makes, and how soon after a change. */
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { node } from "../harness/commands.ts";
import type { Effort } from "../harness/effort.ts";
import { type Figure, median } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { originOf, type Server, startProgram, startServer, stopServer } from "../harness/server.ts";
import { cpuSeconds } from "../harness/usage.ts";
import type { ReceiverFigures } from "../load/receivers.ts";
import { sampleAttributes } from "./sample.ts";

/** The deliveries of one measurement, and the creates per second when the time to a delivery is measured. */
const deliveries = 10_000;
const createsPerSecond = 100;

interface Parts {
  service: string;
  control: string;
  hooks: readonly string[];
  server: Server;
}

/** Measures webhooks. */
export async function measureWebhooks(effort: Effort): Promise<Figure[]> {
  return [await rate(effort, 1), await rate(effort, 50), await latency(effort)];
}

/** The changes are made while the webhooks are disabled. The time runs from the first delivery to the last. */
async function rate({ rounds, share }: Effort, receivers: number): Promise<Figure> {
  const changes = Math.ceil((deliveries * Math.max(share, 0.2)) / receivers);
  const all: { perSecond: number; cpuMs: number; connections: number }[] = [];
  for (let round = 0; round < rounds; round++)
    all.push(
      await withReceivers(receivers, async ({ service, control, hooks, server }) => {
        await enable(hooks, false);
        await createAll(service, changes);
        const before = cpuSeconds(server);
        await enable(hooks, true);
        const { durationMs, connections } = await figuresAfter(control, changes * receivers);
        const cpuMs = ((cpuSeconds(server) - before) * 1_000) / (changes * receivers);
        return { perSecond: (changes * receivers * 1_000) / durationMs, cpuMs, connections };
      }),
    );
  const middle = (of: (round: (typeof all)[number]) => number) => median(all.map(of));
  const perSecond = all.map((each) => Math.round(each.perSecond));
  return {
    what: `deliveries to ${receivers === 1 ? "one receiver" : `${receivers} receivers`}`,
    value: `${Math.round(middle((each) => each.perSecond))}/s (${Math.min(...perSecond)} to ${Math.max(...perSecond)}), ${middle(
      (each) => each.cpuMs,
    ).toFixed(2)} ms of processor time each, ${middle((each) => each.connections)} connections`,
  };
}

async function latency({ durationMs }: Effort): Promise<Figure> {
  const creates = (createsPerSecond * 3 * durationMs) / 1_000;
  const { lagP50, lagP99 } = await withReceivers(1, async ({ service, control }) => {
    for (let n = 0; n < creates; n++) {
      await post(`${service}/articles`, sampleAttributes(n));
      await sleep(1_000 / createsPerSecond);
    }
    return figuresAfter(control, creates);
  });
  return {
    what: `from a commit to its delivery, ${createsPerSecond} creates/s`,
    value: `p50 ${lagP50} ms, p99 ${lagP99} ms`,
  };
}

function withReceivers<T>(receivers: number, work: (parts: Parts) => Promise<T>): Promise<T> {
  return inFolder(async (folder) => {
    const config = `${folder}/holdfast.config.json`;
    writeFileSync(config, JSON.stringify({ webhooks: { allow: ["127.0.0.1"] } }));
    const server = await startServer("holdfast", { store: `${folder}/webhooks.db`, config });
    const program = await startProgram([...node, "bench/load/receivers.ts", String(receivers)]);
    try {
      const service = `${originOf(server)}/api/v1`;
      const ports = (await (await fetch(originOf(program))).json()) as number[];
      const hooks: string[] = [];
      for (const port of ports) {
        const url = `http://127.0.0.1:${port}/`;
        const made = await post(`${service}/_webhooks`, { url, collections: ["articles"] });
        hooks.push(`${service}/_webhooks/${(made as { id: string }).id}`);
      }
      return await work({ service, control: originOf(program), hooks, server });
    } finally {
      await stopServer(server);
      await stopServer(program);
    }
  });
}

async function createAll(service: string, changes: number): Promise<void> {
  for (let n = 0; n < changes; n += 100) {
    const operations = Array.from({ length: Math.min(100, changes - n) }, (_, index) => ({
      method: "POST",
      path: "/articles",
      body: sampleAttributes(n + index),
    }));
    await post(`${service}/_batch`, { operations });
  }
}

async function enable(hooks: readonly string[], enabled: boolean): Promise<void> {
  await Promise.all(hooks.map((hook) => send("PATCH", hook, { enabled }, "application/merge-patch+json")));
}

/** Waits for all deliveries. */
async function figuresAfter(control: string, expected: number): Promise<ReceiverFigures> {
  while (Number(await (await fetch(`${control}/count`)).text()) < expected) await sleep(50);
  return (await (await fetch(`${control}/figures`)).json()) as ReceiverFigures;
}

function post(url: string, content: unknown): Promise<unknown> {
  return send("POST", url, content, "application/json");
}

async function send(method: string, url: string, content: unknown, type: string): Promise<unknown> {
  const headers = { "content-type": type };
  const answer = await fetch(url, { method, headers, body: JSON.stringify(content) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${url} got ${answer.status}: ${text}`);
  return text === "" ? undefined : JSON.parse(text);
}
