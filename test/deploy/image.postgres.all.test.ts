/** Builds the image of the Dockerfile, and runs it as the Compose file does. `npm run prove -- container` runs this. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { type Answer, createClient } from "../durability/program.ts";
import { onFreePort, quietPort } from "../ports.ts";
import { startPostgres } from "../postgres/server.ts";
import { ceilingMs, until } from "../until.ts";
import { graceSeconds, restrictions } from "./compose.ts";
import { healthCheck } from "./dockerfile.ts";
import { type Engine, openEngine, whyNoEngine } from "./engine.ts";

const why =
  process.env.HOLDFAST_TEST_IMAGE === undefined
    ? "builds an image, which takes minutes: npm run prove -- container"
    : whyNoEngine();

const tag = `holdfast-test:${randomUUID().slice(0, 8)}`;

/** A container whose service listens on a port of the loopback address. */
interface Container {
  name: string;
  port: number;
  client: ReturnType<typeof createClient>;
}

describe("the image", { skip: why, timeout: 60 * ceilingMs }, () => {
  let engine: Engine;
  const volumes: string[] = [];
  const containers: string[] = [];

  before(async () => {
    engine = await openEngine();
    await engine.build(tag);
  });

  after(async () => {
    for (const name of containers) await engine?.run("rm", "--force", name);
    for (const name of volumes) await engine?.run("volume", "rm", "--force", name);
    await engine?.remove();
  });

  async function createVolume(): Promise<string> {
    const name = `holdfast-${randomUUID()}`;
    await engine.do("volume", "create", name);
    volumes.push(name);
    return name;
  }

  /** Runs the service as the Compose file does, but on the network of this machine, and without a key for each request. */
  function serve(volume: string, ...options: string[]): Promise<Container> {
    return onFreePort((port) => serveOn(port, volume, options));
  }

  async function serveOn(port: number, volume: string, options: readonly string[]): Promise<Container> {
    const name = `holdfast-${randomUUID()}`;
    containers.push(name);
    const place = ["--network=host", "--env=HOLDFAST_HOST=127.0.0.1", `--env=HOLDFAST_PORT=${port}`];
    const all = [...restrictions(), ...engine.runOptions, ...place, `--volume=${volume}:/data`, ...options];
    await engine.do("run", "--detach", `--name=${name}`, ...all, tag);
    const client = createClient(port);
    await untilReady({ name, port, client });
    return { name, port, client };
  }

  const untilReady = ({ name, port }: Container) =>
    until("the service is ready", async () => {
      const isRunning = await engine.do("inspect", "--format={{.State.Running}}", name);
      if (isRunning !== "true") throw new Error("The service has ended.");
      return fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    });

  const inside = (container: Container, script: string) =>
    engine.run("exec", container.name, "sh", "-c", script);

  /** Creates resources until the service refuses, with six clients. Returns the ids of those that it confirmed. */
  function createUntilRefused({ port }: Container): { confirmed: Set<string>; ended: Promise<unknown> } {
    const confirmed = new Set<string>();
    const work = async () => {
      const client = createClient(port);
      for (;;) {
        const answer: Answer = await client.send("POST", "/articles", { text: "x".repeat(200) });
        if (answer?.status !== 201) break;
        confirmed.add(JSON.parse(answer.text).id);
      }
      client.close();
    };
    return { confirmed, ended: Promise.all(Array.from({ length: 6 }, work)) };
  }

  /** The ids of all resources. */
  async function idsIn({ client }: Container): Promise<Set<string>> {
    const ids = new Set<string>();
    for (let offset = 0; ; offset += 1_000) {
      const page = JSON.parse(
        (await client.send("GET", `/articles?limit=1000&offset=${offset}`))?.text ?? "[]",
      );
      for (const { id } of page) ids.add(id);
      if (page.length < 1_000) return ids;
    }
  }

  test("runs without rights, and can write only to its volume", async () => {
    const container = await serve(await createVolume());
    assert.equal((await inside(container, "id -u; id -g")).stdout, "1000\n1000\n");
    const { stdout: status } = await inside(container, "cat /proc/1/status");
    assert.match(status, /^Name:\t(?:node|MainThread|node-MainThread)$/m);
    assert.match(status, /^CapEff:\t0+$/m);
    assert.match(status, /^CapBnd:\t0+$/m);
    assert.match(status, /^NoNewPrivs:\t1$/m);
    for (const folder of ["/", "/app", "/app/node_modules/holdfast/dist", "/home/node", "/usr/local/bin"])
      assert.match((await inside(container, `touch ${folder}/x`)).stderr, /Read-only file system/, folder);
    assert.equal(
      (await inside(container, "touch /data/x /tmp/x && rm /data/x && stat -c %a /data")).stdout,
      "700\n",
    );
  });

  test("contains no tools for development, no sources and no tests", async () => {
    const container = await serve(await createVolume());
    const { stdout } = await inside(container, "ls /app/node_modules /app/node_modules/holdfast");
    assert.match(stdout, /^holdfast$/m);
    assert.doesNotMatch(stdout, /^(?:typescript|fastify|src|test)$/m);
  });

  test("is healthy while the service works, and not when it does not answer", async () => {
    const container = await serve(await createVolume());
    assert.equal((await engine.run("exec", container.name, ...healthCheck)).exitCode, 0);
    if (engine.name === "podman")
      assert.equal((await engine.run("healthcheck", "run", container.name)).exitCode, 0);
    const elsewhere = `--env=HOLDFAST_PORT=${await quietPort()}`;
    assert.equal((await engine.run("exec", elsewhere, container.name, ...healthCheck)).exitCode, 1);
  });

  test("stops gracefully on SIGTERM, and loses nothing", async () => {
    const volume = await createVolume();
    const container = await serve(volume);
    const { confirmed, ended } = createUntilRefused(container);
    await until("some resources are confirmed", () => confirmed.size > 100);
    await engine.do("stop", `--time=${graceSeconds}`, container.name);
    await ended;
    const exitCode = await engine.do("inspect", "--format={{.State.ExitCode}}", container.name);
    assert.equal(exitCode, "0");
    const stored = await idsIn(await serve(volume));
    assertContains(stored, confirmed);
  });

  test("loses nothing when it is killed, and starts again on the same volume", async () => {
    const container = await serve(await createVolume());
    const { confirmed, ended } = createUntilRefused(container);
    await until("some resources are confirmed", () => confirmed.size > 100);
    await engine.do("kill", "--signal=KILL", container.name);
    await ended;
    await engine.do("start", container.name);
    await untilReady(container);
    assertContains(await idsIn(container), confirmed);
  });

  test("has the command holdfast, which makes backups", async () => {
    const container = await serve(await createVolume());
    await container.client.send("POST", "/articles", {});
    const { stdout, stderr } = await inside(container, "holdfast backup /data/backup.db && ls /data");
    assert.match(stderr, /^1 resource with 1 change\b/m);
    assert.match(stdout, /^backup\.db$/m);
  });

  test("listens on all addresses, but not without authentication", async () => {
    const volume = `--volume=${await createVolume()}:/data`;
    const all = [...restrictions(), ...engine.runOptions, "--network=none", volume];
    const { exitCode, stderr } = await engine.run("run", "--rm", ...all, tag);
    assert.equal(exitCode, 1);
    assert.match(stderr, /0\.0\.0\.0.*(?:auth|--insecure)/s);
  });

  test("keeps its resources in PostgreSQL if the environment says so", async (t) => {
    const server = await startPostgres();
    t.after(() => server.remove());
    const container = await serve(await createVolume(), `--env=HOLDFAST_STORE=${server.url}`);
    assert.equal((await container.client.send("POST", "/articles", {}))?.status, 201);
    assert.equal((await inside(container, "ls -A /data")).stdout, "");
  });
});

function assertContains(stored: ReadonlySet<string>, confirmed: ReadonlySet<string>): void {
  const lost = [...confirmed].filter((id) => !stored.has(id));
  assert.deepEqual(lost, []);
}
