/** The slow lists of one caller do not keep others from theirs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../until.ts";
import { startServiceForFile } from "./service.ts";

const service = await startServiceForFile({ trustProxy: ["127.0.0.1"] });

const from = (n: number) => ({ "x-forwarded-for": `10.0.0.${n}` });

async function fill(): Promise<void> {
  const text = "some text ".repeat(40);
  const lines = Array.from({ length: 600 }, (_, n) => JSON.stringify({ n, text }));
  const headers = { "content-type": "application/x-ndjson" };
  const path = "/api/v1/many/_import";
  const answer = await service.send({ method: "POST", path, headers, body: lines.join("\n") });
  assert.equal(answer.status, 200, answer.text);
  for (const n of [1, 2, 3]) await service.create("few", { n });
}

/** A list that looks for many texts in each resource, on a connection of its own. */
async function startHeavy(n: number) {
  const connection = await service.connect();
  const texts = Array.from({ length: 60 }, (_, k) => ({ text: { contains: `no ${n} ${k}` } }));
  const filter = encodeURIComponent(JSON.stringify({ or: texts }));
  const host = "Host: localhost\r\nX-Forwarded-For: 10.0.0.1\r\n";
  connection.write(`GET /api/v1/many?filter=${filter} HTTP/1.1\r\n${host}\r\n`);
  return connection;
}

test("forty slow lists of one caller do not keep another one from cheap lists", async () => {
  await fill();
  const all = await Promise.all(Array.from({ length: 40 }, (_, n) => startHeavy(n)));
  const answered = () => all.filter(({ received }) => received !== "").length;
  await until("one of them is answered", () => answered() > 0);
  const before = answered();
  for (let n = 0; n < 3; n++) {
    const answer = await service.send({ path: "/api/v1/few?n=2&sort=-n", headers: from(2) });
    assert.equal((answer.json as unknown[]).length, 1);
  }
  const meanwhile = answered() - before;
  assert.ok(meanwhile < 20, `${meanwhile} lists of the other caller came first`);
  for (const connection of all) assert.equal((await connection.answer()).status, 200);
});
