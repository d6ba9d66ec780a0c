/** Streams of events that close when their test ends. */
import type { TestContext } from "node:test";
import { until } from "../until.ts";
import { follow, type OpenStream } from "./follow.ts";
import type { Service } from "./service.ts";

export const path = "/api/v1/topics/_events";

export async function open(t: TestContext, service: Service, query = ""): Promise<OpenStream> {
  const stream = await follow(service, `${path}${query}`);
  t.after(() => stream.close());
  await until("the first frame has come", () => stream.frames().length > 0);
  return stream;
}
