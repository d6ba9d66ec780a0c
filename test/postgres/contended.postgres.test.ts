/** Two services on one database whose clients all write to the same resource. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { check } from "../http/check.ts";
import { type Answer, type Service, startService } from "../http/service.ts";
import { type Database, openDatabase } from "./databases.ts";

const writes = 60;
/** The number of simultaneous writes. On a slow machine, no write should wait for all others. */
const together = 20;

let services: readonly [Service, Service];
let database: Database;
before(async () => {
  database = await openDatabase();
  const { url } = database;
  const start = () => startService({ store: { kind: "postgres", url } });
  services = [await start(), await start()];
});
after(async () => {
  for (const service of services) await service.stop();
  await database.release();
});

/** Creates a resource, then sends all writes to it, every second one to the same service. */
async function writeAtOnce(
  send: (service: Service, path: string, n: number) => Promise<Answer>,
): Promise<void> {
  const [first] = services;
  const { id, path } = await first.create("counters");
  const numbers = Array.from({ length: writes }, (_, n) => n);
  for (let from = 0; from < writes; from += together) {
    const some = numbers.slice(from, from + together);
    const answers = await Promise.all(some.map((n) => send(services[n % 2] as Service, path, n)));
    for (const answer of answers) check(answer, { status: 200 });
  }
  const members = Object.fromEntries(numbers.map((n) => [`m${n}`, n]));
  const { headers, json } = await first.send({ path });
  assert.equal(headers.etag, `"${1 + writes}"`);
  assert.deepEqual(json, { id, ...members });
}

test("no patch of two services to one resource is lost or gives up", () =>
  writeAtOnce((service, path, n) =>
    service.send({
      method: "PATCH",
      path,
      headers: { "Content-Type": "application/json-patch+json" },
      content: [{ op: "add", path: `/m${n}`, value: n }],
    }),
  ));

test("no batch of two services that changes one resource is lost or gives up", () =>
  writeAtOnce((service, path, n) => {
    const operation = { method: "PATCH", path: path.slice("/api/v1".length), body: { [`m${n}`]: n } };
    return service.send({ method: "POST", path: "/api/v1/_batch", content: { operations: [operation] } });
  }));

test("bulk changes and updates of two services count each resource once", async () => {
  const [first] = services;
  const made = await Promise.all(Array.from({ length: 10 }, () => first.create("tallies", { n: 0 })));
  const content = { n: { $increment: 1 } };
  const headers = { "Content-Type": "application/vnd.holdfast.update+json" };
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, n) => services[n % 2] as Service).flatMap((service) => [
      service.send({
        method: "POST",
        path: "/api/v1/tallies/_bulk",
        content: { all: true, update: content, max: 10 },
      }),
      ...made.slice(0, 2).map(({ path }) => service.send({ method: "PATCH", path, headers, content })),
    ]),
  );
  for (const answer of answers) check(answer, { status: 200 });
  const { json } = await first.send({ path: "/api/v1/tallies" });
  assert.deepEqual(
    (json as { n: number }[]).map(({ n }) => n),
    made.map((_, place) => (place < 2 ? 20 : 10)),
  );
});
