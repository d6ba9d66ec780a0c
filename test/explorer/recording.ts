/** Records a session of the service, with kills and restarts: every write, flush and response. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, statSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createClient, end, type Program } from "../durability/program.ts";
import { usualThreads } from "../threads/count.ts";
import { until } from "../until.ts";
import { Actor, type ClientLog, configuration, type TextLength } from "./actor.ts";
import { Disk } from "./disk.ts";
import { randomOf } from "./random.ts";
import { type Event, eventsOf, recordedCalls, recordingFlags } from "./trace.ts";

/** The events of all lives of the service in order, and the requests and responses of clients. Plain data that can be saved. */
export interface Recording {
  events: readonly Event[];
  clients: readonly ClientLog[];
}

/** Starts the service on a store behind a command. */
export type Start = (store: string, wrapper: readonly string[], flags: readonly string[]) => Promise<Program>;

/** One run of the service, from its start until a signal ends it. */
export interface Life {
  /** Requests of all clients together. */
  requests: number;
  /** Each flush takes so much longer, in milliseconds. */
  flushDelayMs: number;
  /** Whether another program has the store open, such as a backup. The service is then not the first to open it. */
  isHeldOpen: boolean;
  signal: "SIGKILL" | "SIGTERM";
  /** How many threads answer requests. @default the usual number of the tests */
  threads?: number | undefined;
}

/** The parts of a session. The seed decides the requests of each client. */
export interface Session {
  seed: number;
  lives: readonly Life[];
  texts: TextLength;
}

const clients = 6;

/** The file of the store. The log is next to it. */
export const storeName = "store.db";
export const logName = `${storeName}-wal`;

/** Whether the service reads this file again after a power cut. It always creates the index of the log again. */
const isData = (name: string) => name === storeName || name === logName;

/** Runs a session in an empty folder. Throws Error if the recording does not contain everything that happened to the files. */
export async function record(
  { seed, lives, texts }: Session,
  { start, folder }: { start: Start; folder: string },
): Promise<Recording> {
  const place = join(folder, "disk");
  await mkdir(place, { recursive: true });
  await writeFile(join(folder, "holdfast.config.json"), JSON.stringify(configuration));
  const actors = Array.from(
    { length: clients },
    (_, index) => new Actor(`c${index}`, randomOf(seed * clients + index), texts),
  );
  const events: Event[] = [];
  const disk = new Disk();
  for (const life of lives) {
    const trace = join(folder, "trace");
    await live(life, { start, folder, actors, trace });
    const begin = (events.at(-1)?.at ?? 0) + 1;
    for (const event of eventsOf(await readFile(trace, "latin1"), place, isData)) {
      if (!hasHappened(event, place)) continue;
      const next = shifted(event, begin);
      events.push(next);
      if ("step" in next) disk.apply(next.at, next.step);
    }
    requireComplete(disk, place);
    await rm(trace);
    if (actors.some(({ hasComplaint }) => hasComplaint)) break;
  }
  return { events, clients: actors.map((actor) => actor.log()) };
}

/** One life of the service, until it has ended. */
async function live(
  { requests, flushDelayMs, isHeldOpen, signal, threads = usualThreads }: Life,
  { start, folder, actors, trace }: { start: Start; folder: string; actors: readonly Actor[]; trace: string },
): Promise<void> {
  const delay = `inject=fdatasync,fsync:delay_enter=${flushDelayMs * 1_000}`;
  const slowly = flushDelayMs === 0 ? [] : ["-e", delay];
  const files = ["-o", trace, ...recordingFlags, "-e", `trace=${recordedCalls}`];
  const store = join(folder, "disk", storeName);
  const holder = isHeldOpen && existsSync(store) ? await holdOpen(store) : undefined;
  const program = await start(
    store,
    ["strace", "-D", "-f", "--seccomp-bpf", ...files, ...slowly],
    ["--config", join(folder, "holdfast.config.json"), "--threads", String(threads)],
  );
  let sent = 0;
  let open = actors.length;
  let logAtLast: bigint | undefined;
  const connections = actors.map(() => createClient(program.port));
  const work = actors.map(async (actor, index) => {
    const connection = connections[index];
    let isAnswered = true;
    while (connection !== undefined && isAnswered && sent < requests) {
      if (++sent === requests) logAtLast = timeOfLog(store);
      isAnswered = await actor.act(connection);
    }
    open--;
  });
  // A kill during the commit of the last requests, before their responses: the log is written and not flushed yet.
  if (signal === "SIGKILL")
    await until("the last requests are written", () =>
      open === 0 ? true : sent >= requests && timeOfLog(store) !== logAtLast,
    );
  else await Promise.all(work);
  await end(program, signal);
  await Promise.all(work);
  for (const connection of connections) connection.close();
  if (holder !== undefined) await letGo(holder);
  await isWritten(trace, program);
}

/** When the log was last written to. */
function timeOfLog(store: string): bigint | undefined {
  return statSync(`${store}-wal`, { bigint: true, throwIfNoEntry: false })?.mtimeNs;
}

/** Another program that has the store open, such as a backup. */
async function holdOpen(store: string): Promise<ChildProcess> {
  const program = `
    const { DatabaseSync } = require("node:sqlite");
    const store = new DatabaseSync(${JSON.stringify(store)}, { readOnly: true });
    store.prepare("select * from meta").all();
    process.stdout.write("open");
    setInterval(() => {}, 60_000);
  `;
  const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  return child;
}

async function letGo(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  await once(child, "exit");
}

/** strace continues for a moment after the program has ended. */
async function isWritten(trace: string, { child }: Program): Promise<void> {
  const last = new RegExp(`^${child.pid} +\\+\\+\\+ (killed|exited)`, "m");
  await until("the trace is complete", async () => last.test(await readFile(trace, "latin1")));
}

/** Whether a call took effect that the kill interrupted: the file shows it. */
function hasHappened(event: Event, place: string): boolean {
  if (!("step" in event) || event.isUnfinished !== true || event.step.kind !== "write") return true;
  const { name, offset, bytes } = event.step;
  return readFileSync(join(place, name))
    .subarray(offset, offset + bytes.length)
    .equals(bytes);
}

/** The trace lacks a call. strace can lose the last call of a thread that is killed. */
export class IncompleteRecording extends Error {}

/** Throws IncompleteRecording if the files differ from the result of the recorded calls. */
function requireComplete(disk: Disk, place: string): void {
  const image = disk.image("everything", Math.random);
  for (const name of [storeName, logName]) {
    const path = join(place, name);
    const found = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
    if (!(image.get(name) ?? Buffer.alloc(0)).equals(found))
      throw new IncompleteRecording(`${path} is not what the recorded calls make of it.`);
  }
}

/** The same event in the time of the whole session. */
function shifted(event: Event, by: number): Event {
  if (!("step" in event)) return { ...event, at: event.at + by };
  const { step } = event;
  if ("covers" in step) return { at: event.at + by, step: { ...step, covers: step.covers + by } };
  return { at: event.at + by, step: "end" in step ? { ...step, end: step.end + by } : step };
}
