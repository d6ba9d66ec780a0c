/** A stop while the start still computes what access rules name. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeFolder } from "../../folder.ts";
import { startService } from "../../http/service.ts";
import { openDatabase } from "../../postgres/databases.ts";
import { startProxy } from "../../postgres/fault-proxy.ts";
import { until } from "../../until.ts";
import { awaitedTotal } from "./recompute/awaited.ts";

test("a stop ends although a function is being called", async (t) => {
  const { url, release } = await openDatabase();
  t.after(release);
  const proxy = await startProxy(Number(new URL(url).port));
  t.after(() => proxy.close());
  const folder = makeFolder();
  const [begun, goes] = [join(folder, "begun"), join(folder, "goes")];
  // The function says that it was called, and waits until it may go on.
  const module = awaitedTotal({
    head: 'import { existsSync, writeFileSync } from "node:fs";',
    value: `({ n }) => {
      writeFileSync(${JSON.stringify(begun)}, "");
      while (!existsSync(${JSON.stringify(goes)})) Atomics.wait(pause, 0, 0, 5);
      return n;
    }`,
  });
  const orders = Array.from({ length: 600 }, (_, n) => ({ id: String(n).padStart(5, "0"), n }));
  const direct = { kind: "postgres", url } as const;
  const plain = await startService({ store: direct, collections: { orders: {} }, seeds: { orders } });
  await plain.stop();
  proxy.refuse();
  const service = await startService({ store: { kind: "postgres", url: proxy.urlOf(url) }, module });
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= service.stop();
    return stopped;
  };
  t.after(() => {
    writeFileSync(goes, "");
    return stop();
  });
  proxy.heal();
  await until("the first resource is being computed", () => existsSync(begun));
  void stop();
  const isRefused = () =>
    fetch(service.origin).then(
      () => false,
      () => true,
    );
  await until("the service no longer listens", isRefused);
  writeFileSync(goes, "");
  await stop();
});
