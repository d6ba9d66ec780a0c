/** Callers without a credential share one space of Idempotency-Keys, and get no answer that was another's. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { check } from "./check.ts";
import { type Request, startServiceForFile } from "./service.ts";

const service = await startServiceForFile({ trustProxy: ["127.0.0.1"] });

const from = (address: string, request: Request) =>
  service.send({ ...request, headers: { ...request.headers, "X-Forwarded-For": address } });
const create = (key: string): Request => ({
  method: "POST",
  path: "/api/v1/notes",
  headers: { "Idempotency-Key": key },
  content: { text: "mine" },
});

test("from another address a retry gets the answer without its content", async () => {
  const first = await from("203.0.113.7", create('"one"'));
  check(first, { status: 201 });
  const stranger = await from("203.0.113.8", create('"one"'));
  check(stranger, {
    status: 201,
    headers: {
      "Idempotent-Replayed": "true",
      "Content-Length": "0",
      Location: first.headers.location,
      "Content-Type": undefined,
    },
  });
  assert.equal(stranger.text, "");
  const again = await from("203.0.113.7", create('"one"'));
  check(again, { status: 201, headers: { "Idempotent-Replayed": "true" } });
  assert.equal(again.text, first.text);
});

test("all addresses of an IPv6 /64 network count as one", async () => {
  const first = await from("2001:db8::1", create('"two"'));
  assert.equal((await from("2001:db8::2", create('"two"'))).text, first.text);
  assert.equal((await from("2001:db8:0:1::1", create('"two"'))).text, "");
});

test("from another address the retry of a patch or a batch gets no content either", async () => {
  const { path } = await service.create("notes", { text: "a" });
  const patch: Request = {
    method: "PATCH",
    path,
    headers: { "Idempotency-Key": '"three"' },
    content: { text: "secret" },
  };
  assert.match((await from("203.0.113.7", patch)).text, /secret/);
  check(await from("203.0.113.8", patch), { status: 204 });
  const batch: Request = {
    method: "POST",
    path: "/api/v1/_batch",
    headers: { "Idempotency-Key": '"four"' },
    content: { operations: [{ method: "POST", path: "/notes", body: { text: "secret" } }] },
  };
  assert.match((await from("203.0.113.7", batch)).text, /secret/);
  check(await from("203.0.113.8", batch), { status: 204 });
});
