/** A service on a file in which the disk has changed one bit. Each of many bits is changed in a copy of its own. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openReader } from "../../src/store/open.ts";
import { makeFolder } from "../folder.ts";
import { randomOf } from "../seed.ts";
import { until } from "../until.ts";
import { openBelow } from "./below.ts";
import { check } from "./check.ts";
import { type Answer, type Service, startFor, startService } from "./service.ts";

const bits = 15;
const seed = 7;
const resources = 60;
const collections = {
  topics: {
    schema: { type: "object" as const },
    indexes: [["n"]],
  },
};

/** The texts of each resource by its id: the current one last, at the version of its place. */
type Written = ReadonlyMap<string, readonly string[]>;

test("no read returns a damaged body, and the walk finds what is missing", async (t) => {
  const folder = makeFolder();
  const whole = join(folder, "whole.db");
  const written = await writeStore(whole);
  const bytes = readFileSync(whole);
  const random = randomOf(seed);
  const outcomes = new Map<string, number>();
  for (let n = 0; n < bits; n++) {
    const path = join(folder, `${n}.db`);
    let at = 0;
    // A zero is probably free space. The start checks the header of the file.
    while (bytes[at] === 0 || at < 100) at = Math.floor(random() * bytes.length);
    const bit = Math.floor(random() * 8);
    const damaged = Buffer.from(bytes);
    damaged[at] = (damaged[at] as number) ^ (1 << bit);
    writeFileSync(path, damaged);
    const outcome = await readAll(path, written).catch((error: unknown) => {
      throw new Error(`bit ${bit} of the byte ${at} (seed ${seed}, number ${n})`, { cause: error });
    });
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  t.diagnostic(JSON.stringify([...outcomes]));
  assert.ok((outcomes.get("named") ?? 0) > 0, "some bits damage a resource, and the error names it");
});

test("a damaged resource is a 500 that names it, and the readiness warns", async (t) => {
  const service = await startFor(t);
  const [damaged, sound] = [
    await service.create("topics", { n: 1 }),
    await service.create("topics", { n: 2 }),
  ];
  const { text } = await service.send({ path: "/readyz" });
  assert.equal((JSON.parse(text) as { status: string }).status, "pass");
  const below = await openBelow(service.store);
  await below.run(
    `update ${below.table("resources_1")} set doc = '{"id":"${damaged.id}","n":7}' where ${below.keyColumn} = '${damaged.id}'`,
  );
  await below.close();
  for (const path of [damaged.path, "/api/v1/topics", "/api/v1/topics?n:lt=9", `${damaged.path}?version=1`]) {
    const answer = await service.send({ path }, { mayFail: true });
    check(answer, { status: 500, problem: "DATA_DAMAGED" });
    assert.match(answer.text, new RegExp(`The resource topics/${damaged.id} is damaged in the store`));
  }
  const written = { method: "PATCH", path: damaged.path, content: { n: 3 } };
  check(await service.send(written, { mayFail: true }), { status: 500, problem: "DATA_DAMAGED" });
  assert.equal((await service.send({ path: sound.path })).status, 200);
  const ready = JSON.parse((await service.send({ path: "/readyz" })).text) as Record<string, string>;
  assert.deepEqual({ status: ready.status, data: ready.data }, { status: "warn", data: "damaged" });
});

async function writeStore(path: string): Promise<Written> {
  const service = await startService({ store: { kind: "sqlite", path }, collections, history: "forever" });
  const written = new Map<string, string[]>();
  for (let n = 0; n < resources; n++) {
    const made = await service.create("topics", { n, title: `Title ${n}`, text: `words ${n} `.repeat(20) });
    const texts = [(await service.send({ path: made.path })).text];
    if (n % 3 === 0) {
      const changed = await service.send({
        method: "PATCH",
        path: made.path,
        headers: { "Content-Type": "application/merge-patch+json", "Idempotency-Key": `"key-${n}"` },
        body: JSON.stringify({ title: `Other ${n}` }),
      });
      texts.push(changed.text);
    }
    written.set(made.id, texts);
  }
  await service.stop();
  return written;
}

/** Reads everything in every way. Returns what the service has noticed. */
async function readAll(path: string, written: Written): Promise<string> {
  const found: Found = { isLess: false, isNamed: false, written };
  let service: Service;
  try {
    service = await startService({
      store: { kind: "sqlite", path },
      collections,
      history: "forever",
      isWatched: false,
    });
  } catch (error) {
    assert.equal((error as Error).name, "StartError", String(error));
    return "refused";
  }
  try {
    for (const [id, texts] of written) {
      requireWhole(found, await read(service, `/topics/${id}`), [texts.at(-1) as string], 1);
      for (const [n, text] of texts.entries())
        requireWhole(found, await read(service, `/topics/${id}?version=${n + 1}`), [text], undefined);
    }
    const all = [...written.values()].map((texts) => texts.at(-1) as string);
    const every = [...written.values()].flat();
    const events = await read(service, "/topics/_events?limit=1000", "*/*");
    requireWhole(found, events, every, undefined, (text) =>
      (JSON.parse(text) as { data: unknown }[]).map(({ data }) => JSON.stringify(data)),
    );
    for (const query of ["", "&sort=-n", "&sort=title", "&n:gte=10"]) {
      const least = query === "&n:gte=10" ? resources - 10 : resources;
      requireWhole(
        found,
        await read(service, `/topics?limit=100${query}`),
        all,
        query === "" ? least : undefined,
      );
      const lines = await read(service, `/topics?limit=100${query}`, "application/x-ndjson");
      requireWhole(found, lines, all, undefined);
    }
    await requireWholeExport(found, path, all);
    if (!found.isLess) return found.isNamed ? "named" : "not read";
    await until("the walk says that resources are missing", async () => {
      const { status, text } = await service.send({ path: "/readyz" }, { mayFail: true });
      return status === 503 || text === '{"status":"warn","data":"damaged"}';
    });
    return "missing";
  } finally {
    await service.stop();
  }
}

interface Found {
  written: Written;
  /** Whether a read of current resources had fewer than there are. */
  isLess: boolean;
  /** Whether an error has named a damaged row. */
  isNamed: boolean;
}

function read(service: Service, path: string, accept = "application/json"): Promise<Answer> {
  return service.send({ path: `/api/v1${path}`, headers: { Accept: accept } }, { mayFail: true });
}

/** Fails unless each resource in a response is one of `texts`. `least`: how many it must have. */
function requireWhole(
  found: Found,
  answer: Answer,
  texts: readonly string[],
  least: number | undefined,
  itemsIn = itemsOf,
): void {
  const { status, text } = answer;
  if (status === 503) {
    found.isNamed = true; // SQLite has noticed it, and the store has stopped
  } else if (status === 500) {
    const { code, detail } = answer.json as { code: string; detail: string };
    assert.equal(code, "DATA_DAMAGED", text);
    assert.match(detail, /(?:resource|collection|change log of|response) .*is damaged in the store/);
    found.isNamed = true;
  } else if (status === 404) {
    if (least !== undefined) found.isLess = true;
  } else {
    assert.equal(status, 200, text);
    const items = itemsIn(text);
    for (const item of items) assert.ok(texts.includes(item), `a damaged body: ${item}`);
    if (items.length < (least ?? 0)) found.isLess = true;
  }
}

/** The texts of the resources in a response: a resource, a list or lines. */
function itemsOf(text: string): string[] {
  if (text.startsWith("[")) return (JSON.parse(text) as unknown[]).map((each) => JSON.stringify(each));
  return text.split("\n").filter((line) => line !== "");
}

async function requireWholeExport(found: Found, path: string, texts: readonly string[]): Promise<void> {
  try {
    const reader = await openReader({ kind: "sqlite", path });
    try {
      for await (const { text } of reader.scan("topics")) assert.ok(texts.includes(text), text);
    } finally {
      await reader.close();
    }
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    found.isNamed = true;
  }
}
