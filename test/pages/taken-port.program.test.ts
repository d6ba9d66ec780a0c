/** An example that cannot listen says so in one line. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { resolve } from "node:path";
import { test } from "node:test";
import { makeFolder } from "../folder.ts";

for (const example of ["examples/fastify.ts", "examples/browser/serve.ts"])
  test(`${example} names a port that is in use, and how to choose another`, async (t) => {
    const taken = createServer().listen(0, "127.0.0.1");
    t.after(() => taken.close());
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    const second = createServer().listen(port, "::1"); // Fastify listens on both addresses of "localhost"
    t.after(() => second.close());
    await once(second, "listening").catch(() => {}); // this machine may have no IPv6
    const cwd = makeFolder();
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ["--conditions=holdfast-source", resolve(example)],
      { cwd, env: { ...process.env, PORT: String(port) }, encoding: "utf8" },
    );
    assert.equal(stderr, `Port ${port} is in use. Choose another: PORT=${port + 1} npx node ${example}\n`);
    assert.deepEqual([status, stdout], [1, ""]);
  });
