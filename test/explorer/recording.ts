/** Records a session of the service, with commands, kills and restarts: every write, flush and response. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join, resolve } from "node:path";
import { createClient, end, type Program, startProgram } from "../durability/program.ts";
import { node } from "../node.ts";
import { generator, randomOf } from "../seed.ts";
import { usualThreads } from "../threads/count.ts";
import { until } from "../until.ts";
import { Actor, type ClientLog, configurationOf, counters, type TextLength } from "./actor.ts";
import { Disk, everything } from "./disk.ts";
import { type Event, eventsOf, IncompleteRecording, recordedCalls, recordingFlags } from "./trace.ts";

/** The events of all lives of the service in order, and the requests and responses of clients. Plain data that can be saved. */
export interface Recording {
  /** What is on the disk at the beginning. */
  initial?: ReadonlyMap<string, Buffer>;
  events: readonly Event[];
  clients: readonly ClientLog[];
  commands: readonly Command[];
  /** The changes of books that the receiver of the webhook got, by the id of the delivery: the id and version of each. */
  deliveries: ReadonlyMap<string, string>;
  /** Whether the service keeps all changes. */
  keepsAll: boolean;
}

/** A command of the program that makes something. */
export interface Command {
  kind: "key" | "backup" | "copy";
  /** The name of the key or the file. */
  name: string;
}

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
  /** Commands that run before the service, one after the other. */
  before?: readonly ("erase" | "copy")[];
  /** Commands that run beside it. */
  beside?: readonly ("key" | "backup")[];
}

/** The parts of a session. The seed decides the requests of each client. */
export interface Session {
  seed: number;
  lives: readonly Life[];
  texts: TextLength;
  /** How many changes of each collection the service keeps. @default all */
  keepChanges?: number | undefined;
  /** Whether a webhook follows the changes of books. It writes much, and flushes soon after each start. */
  hasWebhook: boolean;
}

const clients = 6;

/** The file of the store. The log is next to it. */
export const storeName = "store.db";
export const logName = `${storeName}-wal`;

/** Whether a file is read again after a power cut. SQLite always creates the index of a log again, and locks have no content. */
export const isData = (name: string) => /\.db(-wal|-journal)?$/.test(name);

/** What all parts of a recording use. */
interface Scene {
  folder: string;
  /** The folder of the program. */
  from: string;
  place: string;
  store: string;
  actors: readonly Actor[];
  commands: Command[];
  receiver: Receiver;
  hasWebhook: boolean;
  /** The traces of the programs that run at the same time, and the commands among them by their process. */
  traces: string[];
  processes: Map<string, string>;
}

/**
 * Runs a session of the program in `from`, in an empty folder. Throws IncompleteRecording if the recording does not contain everything
 * that happened to the files.
 */
export async function record(
  { seed, lives, texts, keepChanges, hasWebhook }: Session,
  { from, folder }: { from: string; folder: string },
): Promise<Recording> {
  const place = join(folder, "disk");
  await mkdir(place, { recursive: true });
  const keepsAll = keepChanges === undefined;
  const history = keepsAll ? undefined : { keepChanges };
  await writeFile(join(folder, "holdfast.config.json"), JSON.stringify(configurationOf(history)));
  const all = Array.from({ length: clients }, (_, index) => `c${index}`);
  const actors = all.map(
    (client, index) => new Actor({ client, random: randomOf(seed * clients + index), texts, all, keepsAll }),
  );
  const receiver = await Receiver.open();
  const scene: Scene = {
    ...{ folder, from, place, store: join(place, storeName), actors, receiver, hasWebhook },
    ...{ commands: [], traces: [], processes: new Map() },
  };
  const events: Event[] = [];
  const disk = new Disk();
  const take = async () => {
    if (scene.traces.length === 0) return;
    const begin = (events.at(-1)?.at ?? 0) + 1;
    const traces = await Promise.all(scene.traces.map((trace) => readFile(trace, "latin1")));
    for (const event of eventsOf(traces, { folder: place, isData }, scene.processes)) {
      if (!hasHappened(event, place)) continue;
      const next = shifted(event, begin);
      events.push(next);
      if ("step" in next) disk.apply(next.at, next.step);
    }
    requireComplete(disk, place);
    await Promise.all(scene.traces.map((trace) => rm(trace)));
    scene.traces = [];
    scene.processes.clear();
  };
  try {
    for (const life of lives) {
      for (const kind of life.before ?? []) {
        await runBefore(scene, kind);
        await take();
      }
      await live(scene, life);
      await take();
      if (actors.some(({ hasComplaint }) => hasComplaint)) break;
    }
  } finally {
    receiver.close();
  }
  const { commands } = scene;
  const { deliveries } = receiver;
  return { events, clients: actors.map((actor) => actor.log()), commands, deliveries, keepsAll };
}

/** Runs a command while no service runs. */
async function runBefore(scene: Scene, kind: "erase" | "copy"): Promise<void> {
  if (!existsSync(scene.store)) return;
  if (kind === "copy") return make(scene, kind);
  for (const actor of scene.actors) {
    const erasure = actor.erase();
    if (erasure === undefined) continue;
    await run(scene, erasure.name, erasure.args);
    return actor.erased();
  }
}

/** Runs a command that makes a key or a file. */
async function make(scene: Scene, kind: Command["kind"]): Promise<void> {
  const name = kind === "key" ? `key${scene.commands.length}` : `${kind}${scene.commands.length}.db`;
  const file = join(scene.place, name);
  const args = {
    key: ["keys", "create", "--name", name],
    backup: ["backup", file],
    copy: ["copy", "--to", `sqlite:${file}`],
  };
  scene.commands.push({ kind, name });
  await run(scene, name, args[kind]);
}

/** Runs a command to its end, and records it. */
async function run(scene: Scene, name: string, args: readonly string[]): Promise<void> {
  const { folder, from, store } = scene;
  const options = ["--config", configurationIn(folder), "--store", `sqlite:${store}`];
  const command = [...node, join(from, "bin/holdfast.js"), ...args, ...options];
  const [first = "", ...others] = [...recorded(scene), ...command];
  const child = spawn(first, others, { stdio: ["ignore", "ignore", "pipe"] });
  scene.processes.set(String(child.pid), name);
  const trace = scene.traces.at(-1) as string;
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors += chunk;
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}: ${errors}`);
  await isWritten(trace, child);
}

const configurationIn = (folder: string) => join(folder, "holdfast.config.json");

/** The command that records another one in a new trace. */
function recorded(scene: Scene, flushDelayMs = 0): string[] {
  const trace = join(scene.folder, `trace-${scene.traces.length}`);
  scene.traces.push(trace);
  const delay = `inject=fdatasync,fsync:delay_enter=${flushDelayMs * 1_000}`;
  const slowly = flushDelayMs === 0 ? [] : ["-e", delay];
  const flags = ["-o", trace, ...recordingFlags, "-e", `trace=${recordedCalls}`, ...slowly];
  return ["strace", "-D", "-f", "--seccomp-bpf", ...flags];
}

/** One life of the service, until it has ended. */
async function live(scene: Scene, life: Life): Promise<void> {
  const { requests, flushDelayMs, isHeldOpen, signal, threads = usualThreads, beside = [] } = life;
  const { folder, from, store, actors } = scene;
  const holder = isHeldOpen && existsSync(store) ? await holdOpen(store) : undefined;
  const isFirst = !existsSync(store);
  const program = await startProgram(
    store,
    recorded(scene, flushDelayMs),
    ["--config", configurationIn(folder), "--threads", String(threads)],
    from,
  );
  const trace = scene.traces.at(-1) as string;
  if (isFirst) await prepare(scene, program);
  let sent = 0;
  let open = actors.length;
  let logAtLast: bigint | undefined;
  const connections = actors.map(() => createClient(program.port));
  let commands: Promise<void>[] = [];
  const work = actors.map(async (actor, index) => {
    const connection = connections[index];
    let isAnswered = true;
    while (connection !== undefined && isAnswered && sent < requests) {
      if (++sent === requests) logAtLast = timeOfLog(store);
      if (sent === Math.ceil(requests / 3)) commands = beside.map((kind) => make(scene, kind));
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
  if (flushDelayMs === 0) await Promise.all(commands);
  await end(program, signal);
  await Promise.all([...work, ...commands]);
  for (const connection of connections) connection.close();
  if (holder !== undefined) await letGo(holder);
  await isWritten(trace, program.child);
}

/** Creates the counters and the webhook. */
async function prepare({ receiver, hasWebhook }: Scene, { port }: Program): Promise<void> {
  const connection = createClient(port);
  const empty = counters.map((id) => ({ id, n: 0, log: [] }));
  const creates: [path: string, body: unknown][] = [["/counters/_import", empty]];
  if (hasWebhook) creates.push(["/_webhooks", { url: receiver.url, collections: ["books"] }]);
  for (const [path, body] of creates) {
    const answer = await connection.send("POST", path, body);
    if (answer === undefined || answer.status >= 300) throw new Error(`${path}: ${answer?.text}`);
  }
  connection.close();
}

/** The receiver of the webhook. */
class Receiver {
  readonly deliveries = new Map<string, string>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      try {
        for await (const chunk of request) chunks.push(chunk);
      } catch {
        return; // the service was killed
      }
      const { subject, version } = JSON.parse(String(Buffer.concat(chunks)));
      this.deliveries.set(String(request.headers["webhook-id"]), `${subject}/${version}`);
      response.writeHead(204).end();
    });
  }

  static async open(): Promise<Receiver> {
    const receiver = new Receiver();
    await once(receiver.#server.listen(0, "127.0.0.1"), "listening");
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/**
 * Records how the part of the program that opens a store starts on an image. The recording has no requests: what clients know stays
 * the same.
 */
export async function recordStart(
  initial: ReadonlyMap<string, Buffer>,
  { clients, commands, deliveries, keepsAll }: Recording,
  { from, folder }: { from: string; folder: string },
): Promise<Recording> {
  const place = join(folder, "disk");
  const trace = join(folder, "trace");
  await rm(place, { recursive: true, force: true });
  putImage(initial, place);
  const flags = ["-o", trace, ...recordingFlags, "-e", `trace=${recordedCalls}`];
  const start = [...node, resolve(from, "test/explorer/start-store.ts"), join(place, storeName)];
  const child = spawn("strace", ["-D", "-f", "--seccomp-bpf", ...flags, ...start], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  await once(child, "exit");
  await isWritten(trace, child);
  const events = eventsOf([await readFile(trace, "latin1")], { folder: place, isData });
  const disk = new Disk(initial);
  for (const event of events) if ("step" in event) disk.apply(event.at, event.step);
  requireComplete(disk, place);
  return { initial, events, clients, commands, deliveries, keepsAll };
}

/** Writes an image into a folder. */
export function putImage(image: ReadonlyMap<string, Buffer>, folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, bytes] of image) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), bytes);
  }
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
async function isWritten(trace: string, { pid }: ChildProcess): Promise<void> {
  const last = new RegExp(`^${pid} +[\\d.]+ \\+\\+\\+ (killed|exited)`, "m");
  await until("the trace is complete", async () => last.test(await readFile(trace, "latin1")));
}

/** Whether a call took effect that the kill interrupted: the file shows it. */
function hasHappened(event: Event, place: string): boolean {
  if (!("step" in event) || event.isUnfinished !== true || event.step.kind !== "write") return true;
  const { name, offset, bytes } = event.step;
  if (!existsSync(join(place, name))) return false;
  return readFileSync(join(place, name))
    .subarray(offset, offset + bytes.length)
    .equals(bytes);
}

/** Throws IncompleteRecording if the files differ from the result of the recorded calls. */
function requireComplete(disk: Disk, place: string): void {
  const image = disk.image(everything, generator());
  const found = readdirSync(place, { recursive: true, encoding: "utf8" }).filter(isData);
  for (const name of new Set([...image.keys(), ...found])) {
    const path = join(place, name);
    const bytes = existsSync(path) ? readFileSync(path) : undefined;
    if (bytes === undefined || image.get(name)?.equals(bytes) !== true)
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
