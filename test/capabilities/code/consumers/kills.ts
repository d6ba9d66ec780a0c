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

/** One attempt to handle a change. `ok`: whether the function returned. `life`: the process that made it. */
interface Attempt {
  id: string;
  version: number;
  ok: boolean;
  life: number;
}

/**
 * A service that is killed leaves fewer changes than this handled without a stored outcome: the attempts of two pages of the log, of the
 * retries, and of one commit.
 */
const mostOpen = 150;

/** Each of the first two attempts fails in one of four cases, which its number and the event decide. */
const consumer = `
import { createHash } from "node:crypto";
const fails = (text) => createHash("sha256").update(text).digest()[0] % 4 === 0;
const mail = {
  concurrency: 4,
  run: async ({ event: { id, subject, version }, attempt }) => {
    const ok = attempt > 2 || !fails(id + attempt);
    await new Promise((resolve) => setTimeout(resolve, 1));
    note({ id: subject, version: Number(version), ok, life: process.pid });
    if (!ok) throw new Error("at random");
  },
};
`;

class World {
  readonly calls = noteCalls();
  /** The highest version of each resource that was confirmed. */
  readonly confirmed = new Map<string, number>();
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
    const more = n % 10 === 9 ? 4 * mostOpen : 20 + Math.floor(random() * 60);
    const enough = world.calls.read().length + more;
    await until("more is handled", () => world.calls.read().length > enough);
    await world.kill();
    await world.start();
  }
  world.isOver = true;
  await Promise.all(writers);
  await until("every confirmed change is handled", () => missingIn(world).length === 0);
  const attempts = world.calls.read<Attempt>();
  requireOrder(attempts);
  const repeated = requireShortReturns(attempts);
  const total = repeated.reduce((sum, count) => sum + count, 0);
  t.diagnostic(
    `${world.confirmed.size} resources, ${attempts.length} attempts, ${total} repetitions, at most ${Math.max(0, ...repeated)} after a kill`,
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

/**
 * A service handles only those changes again that had no outcome when one before it was killed. Returns how many each service has handled
 * again.
 */
function requireShortReturns(attempts: readonly Attempt[]): number[] {
  const open = new Set<string>();
  const handled = new Set<string>();
  return livesOf(attempts).map((life) => {
    const names = life.filter(({ ok }) => ok).map(nameOf);
    const repeated = names.filter((name) => handled.has(name));
    for (const name of repeated) assert.ok(open.has(name), `${name} was handled again after its outcome`);
    // Those that this service has not reached are open for the next one.
    for (const name of names) open.delete(name);
    for (const name of names.slice(-mostOpen)) open.add(name);
    for (const name of names) handled.add(name);
    return repeated.length;
  });
}

/** The attempts of each process. */
function livesOf(attempts: readonly Attempt[]): Attempt[][] {
  const lives: Attempt[][] = [];
  for (const attempt of attempts) {
    if (lives.at(-1)?.[0]?.life !== attempt.life) lives.push([]);
    lives.at(-1)?.push(attempt);
  }
  return lives;
}
