/**
 * A soak: a constant mixed load for 30 minutes (`HOLDFAST_TEST_SOAK_MINUTES`), with a restart in the middle. The service must not use more and
 * more memory, descriptors, threads or disk, and must have every confirmed write. The samples and a chart go to
 * `bench/results/soak/`.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { promisify } from "node:util";
import { onFreePort } from "../ports.ts";
import { sourceVersion } from "../source-version.ts";
import { machineTime } from "../until.ts";
import { chart } from "./chart.ts";
import { createClient } from "./client.ts";
import { type Judgement, judge } from "./judge.ts";
import { Load, type LoadFigures } from "./load.ts";
import { startReceiver } from "./receiver.ts";
import { type Sample, takeSample } from "./samples.ts";
import { ownEnvironment, type SoakService, startService } from "./service.ts";

const minutes = Number(process.env.HOLDFAST_TEST_SOAK_MINUTES ?? 30);
const resultsFolder = "bench/results/soak";

/** Moderate, so that the figures do not depend on the speed of the machine. */
const load = { workers: 12, requestsPerSecond: 250, streams: 20, resources: 150 };

/** The change log is full long before the soak ends. */
const configuration = { history: { keepBytes: 4_000_000 }, webhooks: { allow: ["127.0.0.1"] } };

const sampleMs = Math.min(5_000, Math.max(2_000, minutes * 200));
const backupMs = Math.min(300_000, minutes * 12_000);

/** Whether the service passes. Throws if the signal aborts, or if the service ends by itself. */
export async function proveNoGrowth(signal: AbortSignal): Promise<boolean> {
  if (!existsSync("/proc/self/status")) throw new Error("The soak needs Linux: it reads /proc.");
  const folder = await mkdtemp(join(tmpdir(), "holdfast-soak-"));
  try {
    return await soak(folder, signal);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function soak(folder: string, signal: AbortSignal): Promise<boolean> {
  writeFileSync(join(folder, "holdfast.config.json"), JSON.stringify(configuration));
  const receiver = await startReceiver();
  const started = await onFreePort(async (port) => ({ port, service: await startService(folder, port) }));
  const { port } = started;
  let { service } = started;
  const samples: Sample[] = [];
  let backups: Backups | undefined;
  try {
    await createWebhook(port, receiver.url);
    const running = new Load({ ...load, port });
    backups = new Backups(folder);
    const sampling = { store: join(folder, "holdfast.db"), samples, start: performance.now(), signal };
    await sampleFor(service, { ...sampling, life: 0 });
    await service.stop();
    service = await startService(folder, port);
    await sampleFor(service, { ...sampling, life: 1 });
    await running.stop();
    await backups.stop();
    const faults = faultsOf(running, await readAll(port));
    await service.stop();
    return report({
      minutes,
      load,
      figures: running.figures,
      webhooks: receiver.figures(),
      backups: backups.made,
      faults: [...faults, ...backups.faults],
      judgements: judge(samples),
      samples,
    });
  } finally {
    service.kill();
    receiver.close();
    await backups?.stop();
  }
}

interface Sampling {
  store: string;
  samples: Sample[];
  start: number;
  life: number;
  signal: AbortSignal;
}

/** Samples for half of the time. */
async function sampleFor(
  service: SoakService,
  { store, samples, start, life, signal }: Sampling,
): Promise<void> {
  const endAt = performance.now() + minutes * 30_000;
  while (performance.now() < endAt) {
    await pass(sampleMs, undefined, { signal });
    if (service.hasEnded()) throw new Error("The service has ended by itself.");
    const inner = service.inner();
    if (inner === undefined) continue;
    const seconds = (performance.now() - start) / 1_000;
    samples.push({ seconds, life, ...takeSample(service.pid, store, inner) });
  }
}

async function createWebhook(port: number, url: string): Promise<void> {
  const client = createClient(port);
  const answer = await client.send("POST", "/_webhooks", { url, collections: ["articles"] });
  client.close();
  if (answer?.status !== 201) throw new Error(`The webhook was not created: ${answer?.text}`);
}

/** Backups, one after the other. Each command verifies its backup. */
class Backups {
  made = 0;
  readonly faults: string[] = [];
  readonly #stopping = new AbortController();
  readonly #ended: Promise<void>;

  constructor(folder: string) {
    this.#ended = this.#run(folder);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#ended;
  }

  async #run(folder: string): Promise<void> {
    for (;;) {
      await pass(backupMs, undefined, { signal: this.#stopping.signal }).catch(() => {});
      if (this.#stopping.signal.aborted) return;
      try {
        await backUp(folder);
        this.made++;
      } catch (error) {
        this.faults.push(`A backup failed: ${(error as { stderr?: string }).stderr ?? error}`);
      }
    }
  }
}

async function backUp(folder: string): Promise<void> {
  const program = new URL("../../bin/holdfast.js", import.meta.url).pathname;
  const file = join(folder, "backup.db");
  const args = ["--conditions=holdfast-source", program, "backup", file];
  await promisify(execFile)(process.execPath, args, { cwd: folder, env: ownEnvironment() });
  await rm(file);
}

/** The values of all resources, by id. */
async function readAll(port: number): Promise<Map<string, number>> {
  const client = createClient(port);
  const stored = new Map<string, number>();
  for (let offset = 0; ; offset += 1_000) {
    const answer = await client.send("GET", `/articles?limit=1000&offset=${offset}`);
    const page = JSON.parse(answer?.text ?? "[]") as { id: string; value: number }[];
    for (const { id, value } of page) stored.set(id, value);
    if (page.length < 1_000) break;
  }
  client.close();
  return stored;
}

/** Confirmed writes that are not in the store, and resources that no request can have created. */
function faultsOf({ ledgers }: Load, stored: ReadonlyMap<string, number>): string[] {
  const known = new Set(ledgers.flatMap(({ ids }) => ids));
  const unknown = [...stored.keys()].filter((id) => !known.has(id)).length;
  const possible = ledgers.reduce((sum, { unknownCreates }) => sum + unknownCreates, 0);
  const extra = unknown > possible ? [`${unknown} unknown resources exist, but only ${possible} can.`] : [];
  return [...ledgers.flatMap((ledger) => ledger.faults(stored)), ...extra];
}

interface Results {
  minutes: number;
  load: typeof load;
  figures: LoadFigures;
  webhooks: { accepted: number; refused: number };
  backups: number;
  faults: readonly string[];
  judgements: readonly Judgement[];
  samples: readonly Sample[];
}

/** Writes the results, prints the judgement, and returns whether the service passes. */
function report(results: Results): boolean {
  const { figures, webhooks, backups, faults, judgements, samples } = results;
  const name = `${new Date(machineTime()).toISOString().slice(0, 10)}-${sourceVersion("src").slice(0, 7)}`;
  mkdirSync(resultsFolder, { recursive: true });
  writeFileSync(join(resultsFolder, `${name}.json`), `${JSON.stringify(results)}\n`);
  const title = `${minutes} minutes with ${load.requestsPerSecond} requests a second, and a restart`;
  writeFileSync(join(resultsFolder, `${name}.svg`), chart(samples, title));
  console.log(`${figures.requests} requests: ${JSON.stringify(figures.statuses)}`);
  console.log(`${figures.events} events on ${figures.connectedStreams} streams, ${backups} backups`);
  console.log(`${webhooks.accepted} webhooks accepted, ${webhooks.refused} refused by the receiver`);
  for (const { name: figure, life, medians, grows } of judgements)
    console.log(
      `${grows ? "GROWS" : "ok   "} ${figure}, life ${life + 1}: ${medians.map((each) => each.toFixed(1)).join(", ")}`,
    );
  for (const fault of faults) console.log(`WRONG ${fault}`);
  console.log(`${resultsFolder}/${name}.svg`);
  const hasWorked = figures.events > 0 && webhooks.accepted > 0 && backups > 0;
  if (!hasWorked) console.log("WRONG No events, no webhooks or no backups: the load did not run.");
  return hasWorked && faults.length === 0 && judgements.every(({ grows }) => !grows);
}
