/** A thousand idle streams, slow ones and ones that vanish, under load, until SIGTERM: memory stays bounded. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { makeFolder } from "../folder.ts";
import { cannotWatch, watchFromOutside } from "../http/outside-probe.ts";
import { until } from "../until.ts";
import { createClient, end, type Program, startProgram } from "./program.ts";

const idle = 1_000;
const slow = 200;
const vanishing = 100;

/** The aim is 30 kB; the rest is for what differs between machines. */
const maxBytesOfIdle = 60_000;

/** Streams that are open while others are opened to warm up. */
const warm = 20;

/** The processor time for which a request can wait, in milliseconds. Another thread of the machine can be counted with it. */
const maxStandstillMs = 500;

/** The memory that streams can need in addition, in bytes. */
const maxBytes = 600_000_000;

/** The limit of the service: there is room for others only after those that vanish have given their places back. */
const streams = warm + idle + slow + vanishing;

/** A stream as its client sees it. */
interface Stream {
  socket: Socket;
  text: string;
  hasEnded: boolean;
}

async function startWith(t: TestContext): Promise<Program> {
  const folder = makeFolder();
  const config = join(folder, "holdfast.config.json");
  await writeFile(config, JSON.stringify({ limits: { streams, streamsPerCaller: streams } }));
  const program = await startProgram(join(folder, "store.db"), [], ["--config", config]);
  t.after(() => end(program, "SIGKILL"));
  return program;
}

/** Opens a stream. A slow one reads nothing after its first bytes. */
function open(t: TestContext, { port }: Program, query: string, isSlow = false): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port });
    t.after(() => socket.destroy());
    const stream: Stream = { socket, text: "", hasEnded: false };
    socket.on("error", (error) => (stream.text === "" ? reject(error) : undefined));
    socket.on("close", () => {
      stream.hasEnded = true;
    });
    socket.setEncoding("utf8").on("data", (part: string) => {
      stream.text = (stream.text + part).slice(-4_000);
      if (/^HTTP\/1\.1 (?!200)/.test(stream.text)) reject(new Error(stream.text));
      if (!stream.text.includes("id: ") || stream.hasEnded) return;
      if (isSlow) socket.pause();
      resolve(stream);
    });
    const line = `GET /api/v1/things/_events${query} HTTP/1.1`;
    socket.write(`${line}\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n`);
  });
}

async function openAll(count: number, make: () => Promise<Stream>): Promise<Stream[]> {
  const streams: Stream[] = [];
  while (streams.length < count)
    streams.push(...(await Promise.all(Array.from({ length: Math.min(50, count - streams.length) }, make))));
  return streams;
}

/** The memory of the service, in bytes. */
async function memoryOf({ child }: Program): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1_024;
}

test("memory stays bounded, every idle stream gets every event, and SIGTERM ends all streams", {
  skip: cannotWatch,
}, async (t) => {
  const program = await startWith(t);
  const client = createClient(program.port);
  t.after(() => client.close());
  const create = async (pad: string) => {
    const answer = await client.send("POST", "/things", { pad });
    assert.ok(answer?.status === 201, String(answer?.status));
    return (JSON.parse(answer.text) as { id: string }).id;
  };
  // The first requests load code, which does not count for streams.
  for (let n = 0; n < 300; n++) await create("x".repeat(20_000));
  await openAll(warm, () => open(t, program, ""));
  const before = await memoryOf(program);

  const followers = await openAll(idle, () => open(t, program, ""));
  const bytes = ((await memoryOf(program)) - before) / idle;
  t.diagnostic(`${Math.round(bytes / 100) / 10} kB for each of ${idle} idle streams`);
  assert.ok(bytes < maxBytesOfIdle, `${bytes} bytes for each idle stream`);

  const origin = `http://127.0.0.1:${program.port}`;
  const watched = await watchFromOutside({ pid: program.child.pid ?? 0, origin }, async () => {
    await openAll(slow, () => open(t, program, "?since=start", true));
    const gone = await openAll(vanishing, () => open(t, program, "?since=start", true));
    for (let n = 0; n < 100; n++) await create("y".repeat(20_000));
    for (const { socket } of gone) socket.destroy();
    const writers = Array.from({ length: 8 }, async () => {
      for (let n = 0; n < 40; n++) await create("z".repeat(1_000));
    });
    await Promise.all(writers);
    const last = await create("last");
    await until("every idle stream has the last event", () =>
      followers.every(({ text }) => text.includes(`"subject":"${last}"`)),
    );
    followers.push(...(await openAll(vanishing, () => open(t, program, ""))));
  });
  t.diagnostic(`a request waited for at most ${watched.standstillMs} ms of processor time`);
  assert.ok(watched.standstillMs <= maxStandstillMs, `${watched.standstillMs} ms`);
  const after = await memoryOf(program);
  const most = Math.max(after - before, watched.memoryBytes);
  t.diagnostic(`${Math.round(most / 1e6)} MB more under load`);
  assert.ok(most < maxBytes, `${most} bytes more than without streams`);

  await end(program, "SIGTERM");
  assert.equal(program.child.exitCode, 0);
  await until("all streams have ended", () => followers.every(({ hasEnded }) => hasEnded));
  const retries = followers.map(({ text }) => /retry: (\d+)\n\n\r\n0\r\n\r\n$/.exec(text)?.[1]);
  assert.ok(retries.every((ms) => ms !== undefined && Number(ms) <= 5_000));
  assert.ok(new Set(retries).size > idle / 2, "clients come back at different times");
});
