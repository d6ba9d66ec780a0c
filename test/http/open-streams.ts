/** Services whose streams a test follows. */
import type { TestContext } from "node:test";
import { until } from "../until.ts";
import { follow, type OpenStream } from "./follow.ts";
import { type Service, type ServiceOptions, startService } from "./service.ts";

export const path = "/api/v1/topics/_events";

export async function start(t: TestContext, options: ServiceOptions): Promise<Service> {
  const service = await startService(options);
  t.after(() => service.stop());
  return service;
}

export async function open(t: TestContext, service: Service, query = ""): Promise<OpenStream> {
  const stream = await follow(service, `${path}${query}`);
  t.after(() => stream.close());
  await until("the first frame has come", () => stream.frames().length > 0);
  return stream;
}
