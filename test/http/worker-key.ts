/** An API key of a worker, made beside a service as the command line does. */
import type { TestContext } from "node:test";
import { addKey } from "../../src/access/api-key.ts";
import { openKeys } from "../../src/store/open.ts";
import { machineTime } from "../until.ts";
import type { Service } from "./service.ts";

/** Makes the key. */
export async function makeWorkerKey(t: TestContext, { store }: Pick<Service, "store">) {
  const keys = await openKeys(store);
  t.after(() => keys.close());
  const properties = {
    name: "worker",
    subject: "worker",
    roles: [],
    scopes: undefined,
    expiresAt: undefined,
  };
  const { text, key } = await addKey(keys, properties, machineTime());
  return {
    bearer: { authorization: `Bearer ${text}` },
    revoke: () => keys.invalidate(key.prefix, { revokedAt: machineTime() }),
  };
}
