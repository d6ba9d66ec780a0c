import assert from "node:assert/strict";
import { test } from "node:test";
import { startServiceForFile } from "./service.ts";

const service = await startServiceForFile({ limits: { collections: 20 } });

test("a crowd of first creates makes as many collections as there may be, and no more", async () => {
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, n) =>
      service.send({ method: "POST", path: `/api/v1/crowd${n}`, content: { n } }),
    ),
  );
  const created = answers.filter(({ status }) => status === 201);
  assert.equal(created.length, 20);
  for (const { status, json } of answers) {
    if (status !== 201) assert.equal((json as { code: string }).code, "TOO_MANY_COLLECTIONS");
  }
});

test("a create is answered as what it is, although garbage follows it on the connection", async () => {
  const body = '{"n":1}';
  const create = `POST /api/v1/crowd0 HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const text = await service.raw(`${create}GARBAGE\r\n\r\n`);
  assert.match(text, /^HTTP\/1\.1 201 /);
  assert.match(text, /HTTP\/1\.1 400 [\s\S]*INVALID_REQUEST/);
});
