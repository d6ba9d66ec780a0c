/** Many clients, each on its own connection, write one resource at once. `npm run prove lost-updates` has more rounds. */
import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { check } from "./check.ts";
import type { Connection, WireAnswer } from "./connection.ts";
import { jsonType, type Made, startServiceForFile } from "./service.ts";

const clients = 64;
const rounds = Number(process.env.HOLDFAST_TEST_ROUNDS ?? 15);
/** Where every request is a commit, and each must wait for the one before it. */
const commitsEach = Math.ceil(rounds / 5);

const service = await startServiceForFile({
  collections: { counters: {}, guarded: { requirePreconditions: true } },
});
let connections: Connection[] = [];
beforeEach(async () => {
  for (const connection of connections) connection.close(); // a test that failed may have left answers on them
  connections = await Promise.all(Array.from({ length: clients }, () => service.connect()));
});

interface Asked {
  method: string;
  path: string;
  ifMatch?: string;
  content?: unknown;
}

function ask(connection: Connection, { method, path, ifMatch, content }: Asked): Promise<WireAnswer> {
  const body = content === undefined ? "" : JSON.stringify(content);
  const fields = [
    `${method} ${path} HTTP/1.1`,
    "Host: localhost",
    ...(ifMatch === undefined ? [] : [`If-Match: ${ifMatch}`]),
    ...(content === undefined ? [] : [`Content-Type: ${jsonType}`, `Content-Length: ${body.length}`]),
  ];
  connection.write(`${fields.join("\r\n")}\r\n\r\n${body}`);
  return connection.answer(method);
}

interface Seen {
  etag: string;
  n: number;
}

async function read(connection: Connection, { path }: Made): Promise<Seen> {
  const { status, headers, body } = await ask(connection, { method: "GET", path });
  assert.equal(status, 200);
  return { etag: headers.etag ?? "", n: (JSON.parse(body) as { n: number }).n };
}

/** Whether the number that was seen could be raised by one; the only other answer is a 412. */
async function addOne(connection: Connection, { id, path }: Made, { etag, n }: Seen): Promise<boolean> {
  const content = { id, n: n + 1 };
  const { status, headers } = await ask(connection, { method: "PUT", path, ifMatch: etag, content });
  if (status === 412) assert.notEqual(headers.etag, etag);
  else assert.deepEqual([status, headers.etag], [200, `"${n + 2}"`]);
  return status === 200;
}

async function checkNumber({ id, path }: Made, n: number): Promise<void> {
  check(await service.send({ path }), { status: 200, headers: { ETag: `"${n + 1}"` }, json: { id, n } });
}

for (const collection of ["counters", "guarded"])
  describe(`${clients} clients that read, add one and PUT with If-Match (${collection})`, () => {
    test("are right once in each round that they begin together", async () => {
      const made = await service.create(collection, { n: 0 });
      for (let round = 0; round < rounds; round++) {
        const seen = await Promise.all(connections.map((connection) => read(connection, made)));
        assert.deepEqual(new Set(seen.map(({ n }) => n)), new Set([round]), "all have read the same");
        const done = await Promise.all(
          connections.map((connection, index) => addOne(connection, made, seen[index] as Seen)),
        );
        assert.equal(done.filter(Boolean).length, 1, `successes of round ${round}`);
      }
      await checkNumber(made, rounds);
    });

    test("count as far as they were right when each goes at its own pace", async () => {
      const made = await service.create(collection, { n: 0 });
      const counts = await Promise.all(
        connections.map(async (connection) => {
          let right = 0;
          for (let round = 0; round < rounds; round++)
            if (await addOne(connection, made, await read(connection, made))) right++;
          return right;
        }),
      );
      const sum = counts.reduce((a, b) => a + b, 0);
      assert.ok(sum >= rounds, `${sum} successes`);
      await checkNumber(made, sum);
    });
  });

describe(`${clients} clients that PATCH different attributes without If-Match`, () => {
  const types = ["application/merge-patch+json", "application/json-patch+json"];
  for (const type of types)
    test(`lose nothing (${type})`, async () => {
      const start = Object.fromEntries(connections.map((_, index) => [`c${index}`, 0]));
      const { id, path } = await service.create("counters", start);
      await Promise.all(
        connections.map(async (connection, index) => {
          for (let n = 1; n <= commitsEach; n++) await set(connection, { path, type, name: `c${index}`, n });
        }),
      );
      const end = Object.fromEntries(connections.map((_, index) => [`c${index}`, commitsEach]));
      const version = `"${1 + clients * commitsEach}"`;
      check(await service.send({ path }), { status: 200, headers: { ETag: version }, json: { id, ...end } });
    });

  /** Sets one attribute. The response must have it, and the earlier attributes of this client. */
  async function set(
    connection: Connection,
    { path, type, name, n }: { path: string; type: string; name: string; n: number },
  ): Promise<void> {
    const merge = { [name]: n };
    const test = { op: "test", path: `/${name}`, value: n - 1 };
    const list = [test, { op: "replace", path: `/${name}`, value: n }];
    const body = JSON.stringify(type.includes("merge") ? merge : list);
    connection.write(
      `PATCH ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    const answer = await connection.answer("PATCH");
    assert.equal(answer.status, 200, answer.body);
    assert.equal((JSON.parse(answer.body) as Record<string, number>)[name], n);
  }
});
