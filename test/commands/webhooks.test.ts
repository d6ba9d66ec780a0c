/** The commands for webhooks. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { accept, startReceiver } from "../http/webhooks/receiver.ts";
import { until } from "../until.ts";
import { folder, run, serve, stop } from "./cli.ts";

test("webhooks are listed, tested and retried", async (t) => {
  const receiver = await startReceiver((_, response) => void response.writeHead(500).end());
  const cwd = await folder(t, { "holdfast.config.json": '{"webhooks":{"allow":["127.0.0.0/8"]}}' });
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
  await receiver.close();
});

test("a copy with a new identity sends nothing to the receivers of its source", async (t) => {
  const receiver = await startReceiver(accept);
  t.after(() => receiver.close());
  const cwd = await folder(t, { "holdfast.config.json": '{"webhooks":{"allow":["127.0.0.0/8"]}}' });
  const source = await serve(t, ["--store", "sqlite:source.db"], { cwd });
  const created = await fetch(`${source.base}/_webhooks`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ url: receiver.url, collections: ["topics"] }),
  });
  const { id } = (await created.json()) as { id: string };
  await stop(source);
  for (const [flag, state] of [
    [[], "active"],
    [["--new-identity"], "disabled"],
  ] as const) {
    const to = `sqlite:copy-${state}.db`;
    const copied = await run(t, ["copy", "--from", "sqlite:source.db", "--to", to, ...flag], { cwd });
    assert.equal(copied.exitCode, 0, copied.stderr);
    assert.equal(copied.stderr.includes("disabled 1 webhook of the copy"), state === "disabled");
    const service = await serve(t, ["--store", to], { cwd });
    const status = (await (await fetch(`${service.base}/_webhooks/${id}/_status`)).json()) as {
      state: string;
      reason?: string;
    };
    assert.equal(status.state, state);
    assert.equal(status.reason?.startsWith("The store is a copy.") === true, state === "disabled");
    await stop(service);
  }
});
