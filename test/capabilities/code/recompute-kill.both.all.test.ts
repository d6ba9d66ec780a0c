/**
 * The service is killed while it computes stored resources again, and clients change, delete and create the same ones. `npm run prove --
 * recompute` does it with 1,000,000 resources.
 */
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createClient, end, importLines, type Program, startStore } from "../../durability/program.ts";
import { makeFolder } from "../../folder.ts";
import { openTestStore } from "../../http/test-store.ts";
import { until } from "../../until.ts";
import { type Order, Orders } from "./recompute/orders.ts";

const count = Number(process.env.HOLDFAST_TEST_RECOMPUTE ?? 2_000);
const kills = Number(process.env.HOLDFAST_TEST_KILLS ?? 2);
const clients = Number(process.env.HOLDFAST_TEST_WRITERS ?? 2);

/** The writes that are made when all is computed, to compare their times. */
const writesAfter = count > 10_000 ? 500 : 50;

/** How long a client waits after a write, in milliseconds. Without it, the clients of few resources need most of the processors. */
const pauseMs = count > 10_000 ? 0 : 20;

/** The function of a higher version is slow if there are few resources, so that the kills come in the middle. */
const configOf = (version: number) => `
const slowly = (value) => {
  const until = performance.now() + ${version > 1 ? 2_000 / count : 0};
  while (performance.now() < until);
  return value;
};

export default {
  collections: {
    orders: {
      schema: { type: "object", properties: { n: { type: "integer" } } },
      computed: {
        total: { schema: { type: "number" }, from: ["n"], version: ${version}, value: ({ n }) => slowly(n * ${version}) },
      },
    },
  },
};
`;

test("after kills, the work continues where it was, and no confirmed write is lost", async (t) => {
  const folder = makeFolder();
  const { address, release } = await openTestStore(folder);
  t.after(release);
  const place = address.kind === "sqlite" ? `sqlite:${address.path}` : address.url;
  const flagsOf = (version: number) => {
    const config = join(folder, `${version}.config.ts`);
    writeFileSync(config, configOf(version));
    return ["--config", config];
  };
  const orders = new Orders(count, pauseMs);
  await end(await startStore(place, flagsOf(1)), "SIGTERM");
  await importLines(place, "orders", orders.lines(), flagsOf(1));

  let most = count;
  for (let life = 0; life <= kills; life++) {
    const program = await startStore(place, flagsOf(7));
    t.after(() => end(program, "SIGKILL"));
    const begun = await leftIn(program);
    // The last life can have computed all before the test looks.
    assert.ok((begun ?? 0) <= most, `${begun} are left after a kill with ${most}`);
    const stop = new AbortController();
    const writing = orders.write(program, clients, stop.signal);
    const aim = life === kills ? undefined : count * (1 - (life + 1) / (kills + 1));
    let left: number | undefined = begun;
    let created = orders.created;
    while (left !== undefined && (aim === undefined || left > aim)) {
      const before: number = left;
      await until("more is computed", async () => {
        created = orders.created;
        left = await leftIn(program);
        return left === undefined || left < before;
      });
    }
    say(t, `life ${life}: ${begun ?? 0} to ${left ?? 0} left, ${memoryOf(program)}`, orders);
    if (life < kills) {
      assert.ok(left !== undefined && left > 0, "the kill comes in the middle");
      await end(program, "SIGKILL");
      await writing;
      // An order that was created since is left too. Each client can have created one whose response did not come.
      most = left + orders.created - created + clients;
    } else {
      await until("more is written", () => orders.times.length >= writesAfter);
      stop.abort();
      await writing;
      say(t, "complete", orders);
      await end(program, "SIGTERM");
    }
  }
  await requireOrders(await startStore(place, flagsOf(7)), orders, t);
});

/** How many resources are not computed yet; `undefined` if all are. */
async function leftIn({ port }: Program): Promise<number | undefined> {
  const { send, close } = createClient(port);
  const answer = await send("GET", "/_collections");
  close();
  assert.equal(answer?.status, 200);
  const { collections } = JSON.parse(answer.text) as { collections: { computing?: { left: number } }[] };
  return collections[0]?.computing?.left;
}

/** Every order is as confirmed writes left it, and its total is right. No other exists. */
async function requireOrders(program: Program, orders: Orders, t: TestContext): Promise<void> {
  const { send, close } = createClient(program.port);
  let page: Order[] = [];
  let last = "";
  let seen = 0;
  const next = async () => {
    if (page.length === 0) {
      const answer = await send("GET", `/orders?sort=id&limit=1000&id:gt=${last}`);
      assert.ok(answer?.status === 200, String(answer?.text));
      page = JSON.parse(answer.text) as Order[];
      last = page.at(-1)?.id ?? last;
    }
    seen++;
    return page.shift();
  };
  for (const { id, n } of orders.expected()) {
    const found = await next();
    assert.deepEqual([found?.id, found?.n, found?.total], [id, n, n * 7]);
  }
  t.diagnostic(`${seen} orders are right`);
  assert.equal(await next(), undefined);
  close();
  await end(program, "SIGTERM");
}

/** Notes how long the writes took since the last call. */
function say(t: TestContext, what: string, orders: Orders): void {
  const times = orders.times.toSorted((a, b) => a - b);
  orders.times = [];
  const at = (share: number) => times[Math.floor((times.length - 1) * share)]?.toFixed(1);
  t.diagnostic(
    `${what}; ${times.length} writes, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms, ${orders.created} created so far`,
  );
}

/** The memory of a program, now and at most, if the system says it. */
function memoryOf({ child }: Program): string {
  const file = `/proc/${child.pid}/status`;
  if (!existsSync(file)) return "memory unknown";
  const status = readFileSync(file, "utf8");
  const megabytes = (name: string) =>
    Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1_024);
  return `${megabytes("VmRSS")} MB of memory, at most ${megabytes("VmHWM")} MB`;
}
