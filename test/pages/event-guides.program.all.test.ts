/** The programs of the guides about events follow a service. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { links } from "../http/check.ts";
import { type Made, type Service, startServiceForFile } from "../http/service.ts";
import { until } from "../until.ts";
import { programOf } from "./guide-program.ts";

const service = await startServiceForFile();
/** A service with other positions. */
const other = await startServiceForFile();

test("the worker of the guide misses no change, although it is killed", async (t) => {
  const file = await programOf("follow-a-collection", service.port);
  const made = await service.create("topics", { title: "One" });
  const first = run(t, file);
  await until("the worker prints the first event", () => first.output().includes(made.id));
  await service.send({ method: "PATCH", path: made.path, content: { title: "Two" } });
  await until("the worker prints the second event", () => first.output().includes("Two"));
  await until("the worker saves its place", () =>
    readFile(join(dirname(file), "next-page.txt"), "utf8").then((text) => text.includes("&since=")),
  );
  first.child.kill("SIGKILL");
  await once(first.child, "close");
  await service.send({ method: "DELETE", path: made.path });
  const second = run(t, file);
  await until("the worker prints the deletion", () => second.output().includes("topics.deleted"));
  assert.deepEqual(printed(first.output() + second.output(), made), [
    "topics.created <id> 1",
    "topics.updated <id> 2",
    "topics.deleted <id> 3",
  ]);
});

test("the worker of the guide stops where events are missing", async (t) => {
  await other.create("topics", {});
  const file = await programOf("follow-a-collection", service.port);
  await writeFile(join(dirname(file), "next-page.txt"), await nextOf(other));
  const { child, output } = run(t, file);
  const [code] = await once(child, "close");
  assert.equal(code, 1);
  assert.match(output(), /Events are missing\. Delete next-page\.txt/);
});

test("the copy of the guide equals the list after each run, also after a restart from nothing", async (t) => {
  await other.create("topics", {});
  const file = await programOf("offline-copy", service.port);
  const copyFile = join(dirname(file), "topics.json");
  const sync = async () => {
    const { child, output } = run(t, file);
    const [code] = await once(child, "close");
    assert.equal(code, 0, output());
    const { next, topics } = JSON.parse(await readFile(copyFile, "utf8"));
    const { json } = await service.send({ path: "/api/v1/topics" });
    assert.deepEqual(Object.values(topics).sort(byId), (json as { id: string }[]).sort(byId));
    return next as string;
  };
  await sync();
  const [one, two] = [await service.create("topics", { n: 1 }), await service.create("topics", { n: 2 })];
  await sync();
  await service.send({ method: "PATCH", path: one.path, content: { n: 3 } });
  await service.send({ method: "DELETE", path: two.path });
  const next = await sync();
  assert.equal(await sync(), next);
  await service.create("topics", { n: 4 });
  await writeFile(copyFile, JSON.stringify({ next: await nextOf(other), topics: { gone: { id: "gone" } } }));
  await sync();
});

/** Runs a program of Node in its folder. */
function run(t: TestContext, file: string): { child: ChildProcess; output(): string } {
  const child = spawn(process.execPath, [file], { cwd: dirname(file) });
  t.after(() => void child.kill("SIGKILL"));
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  return { child, output: () => output };
}

/** The events that the worker printed, without repetitions. */
function printed(output: string, { id }: Made): string[] {
  const lines = output.split("\n").filter((line) => line.includes(` ${id} `));
  return [...new Set(lines.map((line) => line.split(" ", 3).join(" ").replace(id, "<id>")))];
}

async function nextOf({ send }: Service): Promise<string> {
  return links(await send({ path: "/api/v1/topics/_events" })).next ?? "";
}

const byId = (a: unknown, b: unknown) => ((a as { id: string }).id < (b as { id: string }).id ? -1 : 1);
