/**
 * The service is killed while a task changes many resources and others write: each change of the task is made exactly once, and no
 * confirmed write of others is lost. `npm run prove -- tasks` does it with 1,000,000 resources and 32 writers.
 */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeFolder } from "../folder.ts";
import { databaseFor } from "../postgres/databases.ts";
import { generator } from "../seed.ts";
import { until } from "../until.ts";
import { createClient, end, importLines, startStore } from "./program.ts";

const resources = Number(process.env.HOLDFAST_TEST_TASK_RESOURCES ?? 3_000);
const writers = Number(process.env.HOLDFAST_TEST_TASK_WRITERS ?? 4);
const kills = Number(process.env.HOLDFAST_TEST_KILLS ?? 2);

interface Task {
  state: string;
  total: number;
  done: number;
  changed: number;
  refused: number;
}

const folder = makeFolder();

/** The last questions are about all resources, which takes seconds if there are a million. */
const flags = ["--config", join(folder, "holdfast.config.json")];
writeFileSync(join(folder, "holdfast.config.json"), JSON.stringify({ limits: { queryMs: 60_000 } }));

const updates = { "content-type": "application/vnd.holdfast.update+json" };

/** Increments a number of some resources until the service ends. Returns how often this was confirmed, and how often perhaps. */
async function write(
  port: number,
  writer: number,
  stop: AbortSignal,
): Promise<{ sure: number; perhaps: number }> {
  const client = createClient(port);
  const written = { sure: 0, perhaps: 0 };
  for (let n = writer; !stop.aborted; n += 7_919) {
    const answer = await client.send(
      "PATCH",
      `/things/r${n % resources}`,
      { byOthers: { $increment: 1 } },
      updates,
    );
    if (answer === undefined || answer.status >= 500) {
      written.perhaps++;
      if (answer === undefined) break;
    } else {
      assert.equal(answer.status, 200, answer.text);
      written.sure++;
    }
  }
  client.close();
  return written;
}

/** All resources, as the lines of an import. */
function* lines(): Generator<string> {
  for (let n = 0; n < resources; n++) yield `{"id":"r${n}","byTask":0,"byOthers":0}\n`;
}

async function get<T>(port: number, path: string): Promise<T> {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`);
  assert.equal(response.status, 200);
  return (await response.json()) as T;
}

for (const store of ["sqlite", "postgres"] as const)
  test(`${store}: a task that is killed ${kills} times makes each of ${resources} changes once, beside ${writers} writers`, async (t) => {
    const address = store === "postgres" ? await databaseFor(t) : `sqlite:${join(folder, "tasks.db")}`;
    await importLines(address, "things", lines());
    let program = await startStore(address, flags);
    const client = createClient(program.port);
    const asked = { all: true, update: { byTask: { $increment: 1 } }, max: resources };
    const answer = await client.send("POST", "/things/_bulk", asked, { prefer: "respond-async" });
    client.close();
    assert.ok(answer?.status === 202, String(answer?.text));
    const { id } = JSON.parse(answer.text) as { id: string };
    const total = { sure: 0, perhaps: 0 };
    let seen = 0;
    const random = generator();
    for (let round = 0; ; round++) {
      const stop = new AbortController();
      const writing = Promise.all(
        Array.from({ length: writers }, (_, n) => write(program.port, round * 31 + n, stop.signal)),
      );
      const isLast = round === kills;
      if (isLast) await ended(program.port, id);
      else {
        // Killed at another place each time: when the task has gone a part of the way that is left.
        const part = seen + Math.ceil(((resources - seen) * (1 + random())) / (2 * kills));
        await until("the task has gone this part, or has ended", async () => {
          const { done, endedAt } = await get<Task & { endedAt?: string }>(program.port, `_tasks/${id}`);
          seen = done;
          return done >= part || endedAt !== undefined;
        });
        await end(program, "SIGKILL");
      }
      stop.abort();
      for (const { sure, perhaps } of await writing) {
        total.sure += sure;
        total.perhaps += perhaps;
      }
      if (isLast) break;
      program = await startStore(address, flags);
    }
    const task = await get<Task>(program.port, `_tasks/${id}`);
    t.diagnostic(`${JSON.stringify(task)}, ${total.sure} writes of others`);
    assert.deepEqual(
      [task.state, task.total, task.done, task.changed, task.refused],
      ["done", resources, resources, resources, 0],
    );
    const [wrong] = await get<{ count: number }[]>(program.port, "things?aggregate=count&byTask:ne=1");
    assert.equal(wrong?.count, 0);
    const [sums] = await get<Record<string, number>[]>(
      program.port,
      "things?aggregate=count,sum(byTask),sum(byOthers)",
    );
    assert.equal(sums?.count, resources);
    const byOthers = sums?.["sum(byOthers)"] ?? 0;
    assert.ok(
      byOthers >= total.sure && byOthers <= total.sure + total.perhaps,
      `${byOthers} of ${JSON.stringify(total)}`,
    );
    await end(program, "SIGTERM");
  });

/** Waits for the end of a task. */
async function ended(port: number, id: string): Promise<void> {
  await until("the task ends", async () => {
    const { endedAt } = await get<{ endedAt?: string }>(port, `_tasks/${id}`);
    return endedAt !== undefined;
  });
}
