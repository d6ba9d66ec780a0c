/** Subscribers that follow while the service or the database is killed miss nothing. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { startReceiver } from "../capabilities/webhooks/http/receiver.ts";
import { readEventStream } from "../changes/read-stream.ts";
import { makeFolder } from "../folder.ts";
import type { CloudEvent } from "../http/follow.ts";
import { type PostgresServer, startPostgres } from "../postgres/server.ts";
import { until } from "../until.ts";
import { createClient, end, type Program, startStore } from "./program.ts";

/** `npm run prove -- kills` repeats it more often. */
const kills = Math.ceil(Number(process.env.HOLDFAST_TEST_KILLS ?? 4) / 2);
const subscribers = 8;

/** What runs, and is started again on another port. */
class World {
  program: Program | undefined;
  isOver = false;
  readonly confirmed = new Map<string, number>();
  readonly #address: string;
  readonly #flags: readonly string[];

  constructor(address: string, flags: readonly string[]) {
    this.#address = address;
    this.#flags = flags;
  }

  async start(): Promise<void> {
    this.program = await startStore(this.#address, this.#flags);
  }

  async kill(): Promise<void> {
    const { program } = this;
    this.program = undefined;
    if (program !== undefined) await end(program, "SIGKILL");
  }

  /** Waits until the service runs and reaches its database. */
  async isReady(): Promise<void> {
    await until("the service is ready", async () => {
      if (this.program === undefined) return false;
      const response = await fetch(`http://127.0.0.1:${this.program.port}/readyz`).catch(() => undefined);
      await response?.arrayBuffer().catch(() => {});
      return response?.status === 200;
    });
  }

  /** Creates resources and changes them, as long as the test lasts. */
  async write(): Promise<void> {
    while (!this.isOver) {
      await until("the service runs", () => this.program !== undefined || this.isOver);
      if (this.program === undefined) return;
      const client = createClient(this.program.port);
      for (let n = 0; !this.isOver; n++) {
        const created = await client.send("POST", "/things", { n }).catch(() => undefined);
        if (created === undefined) break;
        if (created.status !== 201) continue;
        const { id } = JSON.parse(created.text) as { id: string };
        this.confirmed.set(id, 1);
        const changed = await client
          .send("PUT", `/things/${id}`, { id, n, more: true })
          .catch(() => undefined);
        if (changed?.status === 200) this.confirmed.set(id, 2);
        if (changed === undefined) break;
      }
      client.close();
    }
  }

  /** Follows until the event of a resource arrives. Returns all events, including repeated ones. */
  async follow(last: () => string | undefined): Promise<CloudEvent[]> {
    const events: CloudEvent[] = [];
    let position: string | undefined;
    const isDone = () => events.some(({ subject, version }) => subject === last() && version !== "1");
    while (!isDone()) {
      const { program } = this;
      if (program === undefined) {
        await this.isReady();
        continue;
      }
      const cut = new AbortController();
      try {
        const url = `http://127.0.0.1:${program.port}/api/v1/things/_events?since=start`;
        const headers = { accept: "text/event-stream", ...(position && { "last-event-id": position }) };
        const response = await fetch(url, { headers, signal: cut.signal });
        if (response.status !== 200) {
          assert.equal(response.status, 503, await response.text());
          await this.isReady();
          continue;
        }
        for await (const { id, data } of readEventStream(response)) {
          if (data !== undefined) events.push(JSON.parse(data));
          position = id ?? position;
          if (isDone()) break;
        }
      } catch (error) {
        if ((error as Error).name === "AssertionError") throw error;
        await this.isReady(); // it was cut off
      } finally {
        cut.abort();
      }
    }
    return events;
  }
}

/** How to start the program, and what to do before the first write. */
interface Setting {
  flags?: readonly string[];
  onStart?: (program: Program) => Promise<void>;
}

async function proveWith(
  t: TestContext,
  address: string,
  disturb: (world: World, n: number) => Promise<void>,
  { flags = [], onStart = async () => {} }: Setting = {},
): Promise<World> {
  const world = new World(address, flags);
  t.after(() => world.kill());
  await world.start();
  await onStart(world.program as Program);
  let last: string | undefined;
  /** The last event comes after its id is known: it is that of a change. */
  const followers = Array.from({ length: subscribers }, () => world.follow(() => last));
  const writers = Array.from({ length: 4 }, () => world.write());
  for (let n = 0; n < kills; n++) {
    const enough = world.confirmed.size + 50;
    await until("more is written", () => world.confirmed.size > enough);
    await disturb(world, n);
  }
  world.isOver = true;
  await Promise.all(writers);
  const client = createClient(world.program?.port ?? 0);
  await until("the last resource is there", async () => {
    const answer = await client.send("POST", "/things", { last: true });
    if (answer?.status === 201) last = (JSON.parse(answer.text) as { id: string }).id;
    return last !== undefined;
  });
  await until("it is changed, too", async () => {
    const answer = await client.send("PUT", `/things/${last}`, { id: last });
    return answer?.status === 200;
  });
  client.close();
  for (const events of await Promise.all(followers)) requireAll(events, world.confirmed);
  t.diagnostic(`${world.confirmed.size} resources, ${kills} kills, ${subscribers} subscribers`);
  return world;
}

/** Nothing confirmed is missing, versions come in order, and a repetition is the same event. */
function requireAll(
  events: readonly Pick<CloudEvent, "id" | "type" | "subject" | "version">[],
  confirmed: ReadonlyMap<string, number>,
): void {
  const byId = new Map<string, object>();
  const versions = new Map<string, number[]>();
  for (const event of events) {
    assert.notEqual(event.type, "holdfast.resync");
    const known = byId.get(event.id);
    if (known !== undefined) {
      assert.deepEqual(event, known);
      continue;
    }
    byId.set(event.id, event);
    const { subject = "", version } = event;
    versions.set(subject, [...(versions.get(subject) ?? []), Number(version)]);
  }
  for (const [id, version] of confirmed) {
    const seen = versions.get(id) ?? [];
    assert.ok(seen.length >= version, `${id} has ${version} versions, and ${seen.length} events`);
  }
  for (const [id, seen] of versions)
    assert.deepEqual(
      seen,
      seen.map((_, n) => n + 1),
      `the versions of ${id}`,
    );
}

test("the service is killed under writers and subscribers: no event is missing", async (t) => {
  const folder = makeFolder();
  await proveWith(t, `sqlite:${join(folder, "store.db")}`, async (world) => {
    await world.kill();
    await world.start();
  });
});

test("PostgreSQL crashes, and the service is killed, under writers and subscribers: no event is missing", async (t) => {
  const server: PostgresServer = await startPostgres(["fsync=on"]);
  t.after(() => server.remove());
  await proveWith(t, server.url, async (world, n) => {
    if (n % 2 === 0) {
      await server.stop("immediate");
      await server.start();
    } else {
      await world.kill();
      await world.start();
    }
  });
});

test("PostgreSQL is killed (-9) under writers, subscribers and a webhook: no event is missing", async (t) => {
  const server: PostgresServer = await startPostgres(["fsync=on"]);
  t.after(() => server.remove());
  const folder = makeFolder();
  const config = join(folder, "holdfast.config.json");
  await writeFile(config, JSON.stringify({ webhooks: { allow: ["127.0.0.0/8"] } }));
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const onStart = async ({ port }: Program) => {
    const client = createClient(port);
    const made = await client.send("POST", "/_webhooks", { url: receiver.url, collections: ["things"] });
    assert.equal(made?.status, 201, made?.text ?? "no response");
    client.close();
  };
  const kill = async () => {
    await server.stop("kill");
    await server.start();
  };
  const { confirmed } = await proveWith(t, server.url, kill, { flags: ["--config", config], onStart });
  const delivered = () => {
    const seen = new Map(receiver.received.map(({ event }) => [event.id, event] as const));
    const counts = new Map<string, number>();
    for (const { subject } of seen.values()) counts.set(subject, (counts.get(subject) ?? 0) + 1);
    return counts;
  };
  await until("every confirmed change is delivered", () => {
    const counts = delivered();
    return [...confirmed].every(([id, version]) => (counts.get(id) ?? 0) >= version);
  });
  requireAll(
    receiver.received.map(({ event }) => event),
    confirmed,
  );
  const ids = new Set(receiver.received.map(({ id }) => id));
  t.diagnostic(`${receiver.received.length} deliveries of ${ids.size} events`);
});
