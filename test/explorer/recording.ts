/** A session of the service, with kills and restarts, whose every write, flush and answer is recorded. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createClient, end, type Program } from "../durability/program.ts";
import { until } from "../until.ts";
import { Actor, configuration } from "./actor.ts";
import type { Random } from "./random.ts";
import { type Event, eventsOf, recordedCalls, recordingFlags } from "./trace.ts";

/** What a session gives: the events of its programs in order, and what the clients know. */
export interface Recording {
  events: readonly Event[];
  actors: readonly Actor[];
}

/** Starts the service on a store behind a command. */
export type Start = (store: string, wrapper: readonly string[], flags: readonly string[]) => Promise<Program>;

/** How a session is made. */
export interface SessionSettings {
  start: Start;
  folder: string;
  random: Random;
  /** Requests of all clients together. */
  requests: number;
}

const clients = 6;

/** The file of the store; the log is beside it. */
export const storeName = "store.db";

/** Whether a power cut may change what a file holds for the service. The index of the log is made anew by the first who opens it. */
const isData = (name: string) => name.startsWith(storeName) && !/-shm$|\.lock/.test(name);

/** Runs a session in an empty folder. */
export async function record({ start, folder, random, requests }: SessionSettings): Promise<Recording> {
  await mkdir(join(folder, "disk"), { recursive: true });
  await writeFile(join(folder, "holdfast.config.json"), JSON.stringify(configuration));
  const actors = Array.from({ length: clients }, (_, index) => new Actor(`c${index}`, random));
  const events: Event[] = [];
  for (let life = 0, left = requests; left > 0 && !actors.some(hasComplaint); life++) {
    const planned = Math.min(left, 1 + Math.floor(random() * requests * 0.3));
    const trace = join(folder, `trace-${life}`);
    left -= await live({ start, folder, random, actors, trace, planned });
    const begin = (events.at(-1)?.at ?? 0) + 1;
    const lived = eventsOf(await readFile(trace, "latin1"), join(folder, "disk"), isData);
    for (const event of lived) events.push(shifted(event, begin));
    await rm(trace);
  }
  return { events, actors };
}

const hasComplaint = ({ complaint }: Actor) => complaint !== undefined;

/** One life of the service, which a signal ends. Gives how many requests were sent. */
async function live({
  start,
  folder,
  random,
  actors,
  trace,
  planned,
}: Omit<SessionSettings, "requests"> & {
  actors: readonly Actor[];
  trace: string;
  planned: number;
}): Promise<number> {
  const isSlow = random() < 0.5;
  const slowly = isSlow ? ["-e", "inject=fdatasync,fsync:delay_enter=30000"] : [];
  const wrapper = [
    "strace",
    "-D",
    "-f",
    "--seccomp-bpf",
    "-o",
    trace,
    ...recordingFlags,
    "-e",
    `trace=${recordedCalls}`,
    ...slowly,
  ];
  const store = join(folder, "disk", storeName);
  const holder = random() < 0.5 && existsSync(store) ? await holdOpen(store) : undefined;
  const program = await start(store, wrapper, ["--config", join(folder, "holdfast.config.json")]);
  let sent = 0;
  const connections = actors.map(() => createClient(program.port));
  const work = actors.map(async (actor, index) => {
    const connection = connections[index];
    while (connection !== undefined && sent < planned) {
      sent++;
      if (!(await actor.act(connection))) return;
    }
  });
  const signal = random() < 0.75 ? "SIGKILL" : "SIGTERM";
  if (signal === "SIGKILL")
    await until("the requests are on their way", () => sent >= planned || actors.every(hasComplaint));
  else await Promise.all(work);
  await end(program, signal);
  await Promise.all(work);
  for (const connection of connections) connection.close();
  if (holder !== undefined) await letGo(holder);
  await isWritten(trace, program);
  return sent;
}

/** Another program that has the store open, such as a backup. While it lives, nobody who opens the store is the first. */
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

/** strace goes on for a moment after the program has ended. */
async function isWritten(trace: string, { child }: Program): Promise<void> {
  const last = new RegExp(`^${child.pid} +\\+\\+\\+ (killed|exited)`, "m");
  await until("the trace is complete", async () => last.test(await readFile(trace, "latin1")));
}

/** The same event in the time of the whole session. */
function shifted(event: Event, by: number): Event {
  if (!("step" in event)) return { ...event, at: event.at + by };
  const { step } = event;
  if ("covers" in step) return { at: event.at + by, step: { ...step, covers: step.covers + by } };
  return { at: event.at + by, step: "end" in step ? { ...step, end: step.end + by } : step };
}
