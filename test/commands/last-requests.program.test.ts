import assert from "node:assert/strict";
import { test } from "node:test";
import { makeFolder } from "../folder.ts";
import { halfSent, serve, untilDeaf } from "./cli.ts";

/** A deadline that no test waits for. */
const patient = { "holdfast.config.json": '{"stopTimeoutMs":600000}' };

test("a request that is still coming in when the listener closes is answered", async (t) => {
  const service = await serve(t, [], { cwd: makeFolder(patient) });
  const { finish, answer } = await halfSent(service);
  service.process.kill("SIGTERM");
  await untilDeaf(service);
  finish();
  assert.match(await answer, /^HTTP\/1\.1 201 Created\r\n/);
  assert.equal((await service.ended).exitCode, 0);
});
