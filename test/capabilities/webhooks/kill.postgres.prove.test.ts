/** Webhooks miss nothing while the service, the database or the receiver is killed. */
import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createClient, end, type Program, startScript } from "../../durability/program.ts";
import { makeFolder } from "../../folder.ts";
import { databaseFor } from "../../postgres/databases.ts";
import { startPostgres } from "../../postgres/server.ts";
import { machineTime, until } from "../../until.ts";
import type { Delivery, KillOrder, Report } from "./kill/receiver.ts";

/** `npm run prove -- kills` repeats it more often. */
const kills = Math.ceil(Number(process.env.HOLDFAST_TEST_KILLS ?? 4) / 2);

/** A receiver that is started again on the same port. */
class Receiver {
  readonly deliveries: Delivery[] = [];
  killed = 0;
  port = 0;
  #child: ChildProcess | undefined;

  async start(): Promise<void> {
    const child = fork("test/capabilities/webhooks/kill/receiver.ts", [String(this.port)]);
    this.#child = child;
    let isListening = false;
    child.on("message", (message: Report) => {
      if ("delivery" in message) this.deliveries.push(message.delivery);
      else if ("killed" in message) this.killed++;
      else {
        this.port = message.port;
        isListening = true;
      }
    });
    await until("the receiver listens", () => isListening);
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined) return;
    child.kill("SIGKILL");
    await once(child, "close"); // also its reports have come
  }

  /** Lets the receiver kill a process at the next delivery. */
  async killAtDelivery(order: KillOrder): Promise<void> {
    const before = this.killed;
    this.#child?.send(order);
    await until("it is killed", () => this.killed > before);
  }
}

/** What runs. */
class World {
  program: Program | undefined;
  isOver = false;
  readonly receiver = new Receiver();
  /** The highest version of each resource that was confirmed. */
  readonly confirmed = new Map<string, number>();
  readonly #address: string;
  readonly #start = machineTime();

  constructor(address: string) {
    this.#address = address;
  }

  startAnother(): Promise<Program> {
    return startScript("test/capabilities/webhooks/kill/service.ts", [this.#address, String(this.#start)]);
  }

  async start(): Promise<void> {
    this.program = await this.startAnother();
  }

  async kill(): Promise<void> {
    const { program } = this;
    this.program = undefined;
    if (program !== undefined) await end(program, "SIGKILL");
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all([this.kill(), this.receiver.kill()]);
  }

  /** Kills the service at a delivery, before or after the response, and starts it again. */
  async killAtDelivery(when: KillOrder["when"]): Promise<void> {
    const { program } = this;
    assert.ok(program?.child.pid);
    await this.receiver.killAtDelivery({ kill: program.child.pid, when });
    await this.kill();
    await this.start();
  }

  async createWebhook(): Promise<void> {
    const client = createClient(this.program?.port ?? 0);
    const url = `http://127.0.0.1:${this.receiver.port}/`;
    const made = await client.send("POST", "/_webhooks", { url, collections: ["things"] });
    assert.equal(made?.status, 201, made?.text ?? "no response");
    client.close();
  }

  /** Creates resources and changes them, until the end. */
  async write(): Promise<void> {
    while (!this.isOver) {
      await until("the service runs", () => this.program !== undefined || this.isOver);
      if (this.program === undefined) return;
      const { port } = this.program;
      const client = createClient(port);
      while (!this.isOver && (await this.#writeOne(client)));
      client.close();
    }
  }

  /** Returns whether the service still responds. */
  async #writeOne(client: ReturnType<typeof createClient>): Promise<boolean> {
    const created = await client.send("POST", "/things", { n: 1 });
    if (created === undefined) return false;
    if (created.status !== 201) return true;
    const { id } = JSON.parse(created.text) as { id: string };
    this.confirmed.set(id, 1);
    const changed = await client.send("PUT", `/things/${id}`, { id, n: 2 });
    if (changed?.status === 200) this.confirmed.set(id, 2);
    return changed !== undefined;
  }
}

type Disturb = (world: World, n: number) => Promise<void>;

async function prove(t: TestContext, address: string, disturb: Disturb): Promise<void> {
  const world = new World(address);
  t.after(() => world.stop());
  await world.receiver.start();
  await world.start();
  await world.createWebhook();
  const writers = Array.from({ length: 4 }, () => world.write());
  for (let n = 0; n < kills; n++) {
    const enough = world.confirmed.size + 40;
    await until("more is written", () => world.confirmed.size > enough);
    await disturb(world, n);
  }
  world.isOver = true;
  await Promise.all(writers);
  const { deliveries } = world.receiver;
  await until("every confirmed change is delivered", () => missing(world).length === 0);
  requireSameIds(deliveries);
  const ids = new Set(deliveries.map(({ id }) => id));
  t.diagnostic(
    `${world.confirmed.size} resources, ${ids.size} events, ${deliveries.length - ids.size} repetitions`,
  );
}

interface Event {
  subject: string;
  version: string;
}

/** The confirmed changes that no delivery has brought. */
function missing({ confirmed, receiver: { deliveries } }: World): string[] {
  const seen = new Set(
    deliveries.map(({ body }) => {
      const { subject, version } = JSON.parse(body) as Event;
      return `${subject}/${version}`;
    }),
  );
  return [...confirmed]
    .flatMap(([id, version]) => Array.from({ length: version }, (_, n) => `${id}/${n + 1}`))
    .filter((change) => !seen.has(change));
}

/** A change has one id and one body, however often it comes. */
function requireSameIds(deliveries: readonly Delivery[]): void {
  const bodies = new Map<string, string>();
  const ids = new Map<string, string>();
  for (const { id, body } of deliveries) {
    assert.equal(bodies.get(id) ?? body, body);
    bodies.set(id, body);
    const { subject, version } = JSON.parse(body) as Event;
    const change = `${subject}/${version}`;
    assert.equal(ids.get(change) ?? id, id, change);
    ids.set(change, id);
  }
}

async function onFile(): Promise<string> {
  const folder = makeFolder();
  return `sqlite:${join(folder, "store.db")}`;
}

async function onDatabase(t: TestContext): Promise<string> {
  const url = await databaseFor(t);
  return url;
}

const stores = { SQLite: onFile, PostgreSQL: onDatabase };

for (const [name, open] of Object.entries(stores)) {
  test(`${name}: the service is killed around a response, and no event is missing`, async (t) => {
    await prove(t, await open(t), (world, n) => world.killAtDelivery(n % 2 === 0 ? "after" : "before"));
  });

  test(`${name}: the receiver is killed, and no event is missing`, async (t) => {
    await prove(t, await open(t), async ({ receiver }) => {
      await receiver.kill();
      await receiver.start();
    });
  });
}

test("PostgreSQL crashes, and no event is missing", async (t) => {
  const server = await startPostgres(["fsync=on"]);
  t.after(() => server.remove());
  await prove(t, server.url, async () => {
    await server.stop("immediate");
    await server.start();
  });
});

test("of two instances on PostgreSQL, the one that delivers is killed, and no event is missing", async (t) => {
  let other: Program | undefined;
  t.after(async () => other && (await end(other, "SIGKILL")));
  await prove(t, await onDatabase(t), async (world) => {
    // The one that remains takes over. The next one starts beside it.
    other ??= await world.startAnother();
    const killed = world.program as Program;
    const before = world.receiver.deliveries.length;
    await end(killed, "SIGKILL");
    world.program = other;
    other = await world.startAnother();
    await until("the other delivers", () => world.receiver.deliveries.length > before + 20);
  });
});
