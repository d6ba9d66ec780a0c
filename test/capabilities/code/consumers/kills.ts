/** Kills services whose consumer fails at random, and looks at what the consumer has handled. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { createClient, end, type Program, startScript } from "../../../durability/program.ts";
import { makeFolder } from "../../../folder.ts";
import { generator } from "../../../seed.ts";
import { machineTime, until } from "../../../until.ts";
import { noteCalls } from "./noted-calls.ts";

/** One attempt to handle a change. `ok`: whether the function returned. */
interface Attempt {
  event: string;
  id: string;
  version: number;
  ok: boolean;
}

/** Each of the first two attempts fails in one of four cases, which its number and the event decide. */
const consumer = `
import { createHash } from "node:crypto";
const fails = (text) => createHash("sha256").update(text).digest()[0] % 4 === 0;
const mail = {
  concurrency: 4,
  run: async ({ event: { id, subject, version }, attempt }) => {
    const ok = attempt > 2 || !fails(id + attempt);
    await new Promise((resolve) => setTimeout(resolve, 1));
    note({ event: id, id: subject, version: Number(version), ok });
    if (!ok) throw new Error("at random");
  },
};
`;

class World {
  readonly calls = noteCalls();
  /** The highest version of each resource that was confirmed. */
  readonly confirmed = new Map<string, number>();
  /** The events whose success was stored, and how many attempts had been noted by then. */
  readonly stored = new Map<string, number>();
  program: Program | undefined;
  isOver = false;
  readonly #store: string;
  readonly #folder = makeFolder();
  readonly #start = String(machineTime());

  constructor(store: string) {
    this.#store = store;
    const configuration = "export default { collections: { things: { after: { mail } } } };";
    writeFileSync(
      join(this.#folder, "holdfast.config.js"),
      `${this.calls.source}${consumer}${configuration}`,
    );
  }

  async start(): Promise<void> {
    const args = [this.#store, this.#start, this.#folder];
    this.program = await startScript("test/capabilities/code/consumers/service.ts", args);
  }

  /** Looks at the latest deliveries. */
  async look(): Promise<void> {
    const client = createClient(this.program?.port ?? 0);
    const answer = await client.send("GET", "/_consumers/things/mail/_deliveries?limit=1000");
    client.close();
    assert.equal(answer?.status, 200);
    const deliveries = JSON.parse(answer.text) as { event: string; state: string }[];
    const { length } = this.calls.read();
    for (const { event, state } of deliveries)
      if (state === "delivered" && !this.stored.has(event)) this.stored.set(event, length);
  }

  async kill(): Promise<void> {
    const { program } = this;
    this.program = undefined;
    if (program !== undefined) await end(program, "SIGKILL");
  }

  /** Creates resources and changes them, until the end. */
  async write(): Promise<void> {
    while (!this.isOver) {
      await until("the service runs", () => this.program !== undefined || this.isOver);
      if (this.program === undefined) return;
      const client = createClient(this.program.port);
      while (!this.isOver && (await this.#writeOne(client)));
      client.close();
    }
  }

  /** Returns whether the service still responds. */
  async #writeOne({ send }: ReturnType<typeof createClient>): Promise<boolean> {
    const created = await send("POST", "/things", { n: 1 });
    if (created?.status !== 201) return created !== undefined;
    const { id } = JSON.parse(created.text) as { id: string };
    this.confirmed.set(id, 1);
    for (const version of [2, 3]) {
      const changed = await send("PUT", `/things/${id}`, { id, n: version });
      if (changed?.status !== 200) return changed !== undefined;
      this.confirmed.set(id, version);
    }
    return true;
  }
}

/** Kills the service so many times, and proves that nothing is missing and that the order is kept. */
export async function proveKills(t: TestContext, store: string, kills: number): Promise<void> {
  const random = generator(7);
  const world = new World(store);
  t.after(() => {
    world.isOver = true;
    return world.kill();
  });
  await world.start();
  const writers = Array.from({ length: 3 }, () => world.write());
  for (let n = 0; n < kills; n++) {
    const enough = world.calls.read().length + 20 + Math.floor(random() * 60);
    await until("more is handled", () => world.calls.read().length > enough);
    await world.look();
    await world.kill();
    await world.start();
  }
  world.isOver = true;
  await Promise.all(writers);
  await until("every confirmed change is handled", () => missingIn(world).length === 0);
  const attempts = world.calls.read<Attempt>();
  requireOrder(attempts);
  requireNoReturn(attempts, world.stored);
  const handled = attempts.filter(({ ok }) => ok);
  const repeated = handled.length - new Set(handled.map(nameOf)).size;
  assert.ok(repeated <= kills * 100, `${repeated} changes were handled again`);
  t.diagnostic(
    `${world.confirmed.size} resources, ${attempts.length} attempts, ${repeated} repetitions, ${world.stored.size} outcomes seen before a kill`,
  );
}

const nameOf = ({ id, version }: Pick<Attempt, "id" | "version">) => `${id}/${version}`;

/** The confirmed changes that the consumer has never handled. */
function missingIn({ confirmed, calls }: World): string[] {
  const handled = new Set(
    calls
      .read<Attempt>()
      .filter(({ ok }) => ok)
      .map(nameOf),
  );
  return [...confirmed]
    .flatMap(([id, last]) => Array.from({ length: last }, (_, n) => nameOf({ id, version: n + 1 })))
    .filter((name) => !handled.has(name));
}

/** The first attempts of a resource come in the order of its changes. */
function requireOrder(attempts: readonly Attempt[]): void {
  const latest = new Map<string, number>();
  for (const { id, version } of attempts) {
    const last = latest.get(id) ?? 0;
    assert.ok(version <= last + 1, `${id}: version ${version} came after version ${last}`);
    latest.set(id, Math.max(last, version));
  }
}

/** The service does not go back further than to what had no outcome: it never handles a change again whose success was stored. */
function requireNoReturn(attempts: readonly Attempt[], stored: ReadonlyMap<string, number>): void {
  for (const [n, { event }] of attempts.entries())
    assert.ok(
      n < (stored.get(event) ?? attempts.length),
      `${event} was handled again after its success was stored`,
    );
}
