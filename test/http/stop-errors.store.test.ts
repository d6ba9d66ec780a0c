/** The stop of a service in which one part cannot stop. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { OpenCapability } from "../../src/capability.ts";
import { compileConfig } from "../../src/config.ts";
import { openService } from "../../src/server/open-service.ts";
import { makeFolder } from "../folder.ts";

test("the store is closed although a capability cannot stop, and the first error is thrown", async () => {
  const config = await compileConfig({ store: "sqlite:store.db" }, makeFolder());
  const opened = await openService(config);
  const { webhooks, users } = opened.capabilities;
  const asked: string[] = [];
  const failAtStop = (name: string, capability: OpenCapability) => {
    const stop = capability.stop?.bind(capability);
    capability.stop = async () => {
      asked.push(name);
      await stop?.();
      throw new Error(`${name} cannot stop`);
    };
  };
  failAtStop("webhooks", webhooks);
  failAtStop("users", users);
  await assert.rejects(opened.close(), /^Error: users cannot stop$/);
  assert.deepEqual(asked, ["users", "webhooks"]);
  const again = await openService(config); // otherwise the store is in use
  await again.close();
});
