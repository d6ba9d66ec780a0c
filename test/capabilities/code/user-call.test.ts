import assert from "node:assert/strict";
import { test } from "node:test";
import { callUser, optionsFor } from "../../../src/capabilities/code/calls/user-call.ts";
import { ClientUse } from "../../../src/capabilities/code/calls/user-client.ts";
import { respond } from "../../../src/capabilities/code/public.ts";

const call = (run: () => unknown, place = "routes.x.run") =>
  callUser(
    () => run,
    { input: {}, clients: {}, signal: new AbortController().signal },
    optionsFor(place, new ClientUse(place, 1)),
  );

test("what a consumer or a job returns has no effect", async () => {
  for (const place of ["jobs.digest.run", "collections.orders.after.mail.run"])
    assert.deepEqual(await call(() => new Response("x"), place), { kind: "done", value: undefined });
  assert.equal((await call(() => new Response("x"))).kind, "failed");
});

test("a thrown value whose members throw fails the call at once", async () => {
  const thrown = [
    Object.defineProperty(new Error("x"), "stack", {
      get: () => {
        throw new Error("y");
      },
    }),
    new Proxy({}, {}),
    Symbol("x"),
    "a text",
  ];
  for (const each of thrown) {
    const outcome = await call(() => {
      throw each;
    });
    assert.deepEqual([outcome.kind, "reason" in outcome && outcome.reason], ["failed", "throw"]);
  }
});

test("a result of more than 16 MiB fails before it reaches the service", async () => {
  const large = "x".repeat(16 * 1024 * 1024 + 1);
  for (const result of [large, [large], respond(200, large, {}), respond(200, Buffer.from(large), {})]) {
    const outcome = await call(() => result);
    assert.match("message" in outcome ? outcome.message : "", /larger than 16 MiB/);
  }
});
