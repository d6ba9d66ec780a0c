/** The commands for webhooks. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { run, serve, serveHere, stop } from "../../commands/cli.ts";
import { makeFolder } from "../../folder.ts";
import { until } from "../../until.ts";
import { accept, startReceiver } from "./http/receiver.ts";

test("webhooks are listed, tested and retried", async (t) => {
  const receiver = await startReceiver((_, response) => void response.writeHead(500).end());
  t.after(() => receiver.close());
  const cwd = makeFolder({ "holdfast.config.json": '{"webhooks":{"allow":["127.0.0.0/8"]}}' });
  const service = await serve(t, [], { cwd });
  const post = async (path: string, content: unknown) => {
    const headers = { "Content-Type": "application/json" };
    const request = { method: "POST", headers, body: JSON.stringify(content) };
    return (await (await fetch(`${service.base}/${path}`, request)).json()) as Record<string, string>;
  };
  const { id, secret } = await post("_webhooks", { url: receiver.url, collections: ["topics"] });
  assert.ok(id && secret);
  await post("topics", { title: "A" });
  let event: string | undefined;
  await until("the failure is stored", async () => {
    const deliveries = await fetch(`${service.base}/_webhooks/${id}/_deliveries`);
    event = ((await deliveries.json()) as { event: string }[])[0]?.event;
    return event !== undefined;
  });

  const listed = await run(t, ["webhooks", "list"], { cwd }); // beside the service
  assert.equal(listed.exitCode, 0, listed.stderr);
  assert.equal((JSON.parse(listed.stdout) as { id: string }).id, id);
  assert.ok(!listed.stdout.includes("whsec_"));

  const inUse = await run(t, ["webhooks", "test", id], { cwd });
  assert.equal(inUse.exitCode, 1);
  assert.match(inUse.stderr, /in use by another Holdfast program.*--url http:\/\/localhost:3000/);
  const url = ["--url", new URL(service.base).origin];
  const refused = await run(t, ["webhooks", "test", id, ...url], { cwd });
  assert.deepEqual(
    [refused.exitCode, refused.stderr],
    [1, "holdfast: The receiver did not accept the test event.\n"],
  );
  assert.equal((JSON.parse(refused.stdout) as { status: number }).status, 500);
  const listedThere = await run(t, ["webhooks", "list", "--url", service.base], { cwd });
  assert.equal(listedThere.stdout, listed.stdout, listedThere.stderr);
  receiver.respond = accept;
  const again = await run(t, ["webhooks", "retry", id, event ?? "", ...url], { cwd });
  assert.equal(again.exitCode, 0, again.stderr);
  assert.equal((JSON.parse(again.stdout) as { state: string }).state, "delivered");
  const unknown = await run(t, ["webhooks", "retry", id, "none", ...url], { cwd });
  assert.match(unknown.stderr, /The delivery of the event "none" to the webhook .* does not exist at /);
  for (const [flags, message] of [
    [["--token", "x"], /--token is for a running service/],
    [[...url, "--store", "sqlite:x.db"], /Give either --url, or --config and --store/],
    [["--url", "localhost:3000"], /is not the URL of a service/],
    [["--url", "http://127.0.0.1:1"], /cannot be reached/],
  ] as const) {
    const wrong = await run(t, ["webhooks", "list", ...flags], { cwd });
    assert.equal(wrong.exitCode, 1);
    assert.match(wrong.stderr, message);
  }
  receiver.respond = (_, response) => void response.writeHead(500).end();
  await stop(service);

  const failed = await run(t, ["webhooks", "test", id], { cwd });
  assert.deepEqual(
    [failed.exitCode, failed.stderr],
    [1, "holdfast: The receiver did not accept the test event.\n"],
  );
  receiver.respond = accept;
  receiver.received = [];
  const tested = await run(t, ["webhooks", "test", id], { cwd });
  assert.equal(tested.exitCode, 0, tested.stderr);
  assert.equal(receiver.received[0]?.event.type, "holdfast.test");
  const retried = await run(t, ["webhooks", "retry", id, event ?? ""], { cwd });
  assert.equal(retried.exitCode, 0, retried.stderr);
  assert.equal((JSON.parse(retried.stdout) as { state: string }).state, "delivered");
  assert.equal(receiver.received[1]?.id, event);

  const missing = await run(t, ["webhooks", "test", "none"], { cwd });
  assert.deepEqual([missing.exitCode, missing.stderr], [1, 'holdfast: The webhook "none" does not exist.\n']);
});

test("a copy with a new identity sends nothing to the receivers of its source", async (t) => {
  const receiver = await startReceiver(accept);
  t.after(() => receiver.close());
  const cwd = makeFolder({ "holdfast.config.json": '{"webhooks":{"allow":["127.0.0.0/8"]}}' });
  const source = await serveHere(t, { store: "sqlite:source.db" }, { cwd });
  const created = await fetch(`${source.base}/_webhooks`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ url: receiver.url, collections: ["topics"] }),
  });
  const { id } = (await created.json()) as { id: string };
  await source.stop();
  for (const [flag, state] of [
    [[], "active"],
    [["--new-identity"], "disabled"],
  ] as const) {
    const to = `sqlite:copy-${state}.db`;
    const copied = await run(t, ["copy", "--from", "sqlite:source.db", "--to", to, ...flag], { cwd });
    assert.equal(copied.exitCode, 0, copied.stderr);
    assert.equal(copied.stderr.includes("disabled 1 webhook of the copy"), state === "disabled");
    const service = await serveHere(t, { store: to }, { cwd });
    const status = (await (await fetch(`${service.base}/_webhooks/${id}/_status`)).json()) as {
      state: string;
      reason?: string;
    };
    assert.equal(status.state, state);
    assert.equal(status.reason?.startsWith("The store is a copy.") === true, state === "disabled");
    await service.stop();
  }
});

test("the commands send the credential of an administrator to a running service", async (t) => {
  const cwd = makeFolder({
    "holdfast.config.json": JSON.stringify({
      auth: { keys: true, administrators: { role: "ops" } },
      webhooks: { allow: ["127.0.0.0/8"] },
    }),
  });
  const keyOf = async (role: string) =>
    (await run(t, ["keys", "create", "--name", role, "--role", role], { cwd })).stdout.trim();
  const [ops, editor] = [await keyOf("ops"), await keyOf("editor")];
  const service = await serve(t, [], { cwd });
  const list = (token: string[], env = {}) =>
    run(t, ["webhooks", "list", "--url", service.base, ...token], { cwd, env });
  assert.deepEqual((await list(["--token", ops])).exitCode, 0);
  assert.deepEqual((await list([], { HOLDFAST_TOKEN: ops })).exitCode, 0);
  assert.match(
    (await list([])).stderr,
    /_webhooks\S* does not exist\. Check the address and its prefix\. If the service has "auth", give .* HOLDFAST_TOKEN\./,
  );
  assert.match(
    (await list(["--token", editor])).stderr,
    /whether the credential belongs to an administrator\.\n$/,
  );
  assert.match((await list(["--token", "hf_wrong"])).stderr, /requires the credential of an administrator/);
  await stop(service);
});

test("a server that is not the service is named in one line", async (t) => {
  const cwd = makeFolder();
  const other = createServer(({ url = "" }, response) =>
    url.startsWith("/moved")
      ? response.writeHead(307, { Location: "/" }).end()
      : response.writeHead(200, { "Content-Type": "text/html" }).end("<p>Hello</p>"),
  );
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  t.after(() => other.close());
  const origin = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  for (const [path, reason] of [
    ["", "the response is not JSON"],
    ["/moved", "unexpected redirect"],
  ] as const) {
    const { exitCode, stderr } = await run(t, ["webhooks", "list", "--url", `${origin}${path}`], { cwd });
    const [line = "", ...others] = stderr.split("\n");
    assert.deepEqual([exitCode, others], [1, [""]], stderr);
    assert.ok(line.startsWith(`holdfast: ${origin}`), line);
    assert.ok(line.includes(`/_webhooks cannot be reached: ${reason}. Check the address`), line);
  }
});
