/** Many clients at once want the same thing: the stock of the shop, and the seats of the guide to code of your own. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { fileOf } from "../first-hour/tutorial.ts";
import { type Service, type ServiceOptions, startFor } from "../http/service.ts";

const clients = 50;

/** Starts a service with a configuration. A response can have what a route returns, which no document describes. */
const start = (t: TestContext, module: string, seeds: ServiceOptions["seeds"]) =>
  startFor(t, { module, isWatched: false, ...(seeds && { seeds }) });

/** Sends the same request from all clients at once. Returns the responses that succeeded and the details of the others, which are 400. */
async function sendAtOnce({ send }: Service, path: string, content: object) {
  const one = () => send({ method: "POST", path, content }, { mayFail: true });
  const answers = await Promise.all(Array.from({ length: clients }, one));
  const [succeeded, refused] = [200, 400].map((status) =>
    answers.filter((answer) => answer.status === status),
  );
  assert.equal(
    (succeeded?.length ?? 0) + (refused?.length ?? 0),
    clients,
    answers.map(({ text }) => text).join("\n"),
  );
  return {
    ids: new Set(succeeded?.map(({ json }) => (json as { id: string }).id)),
    details: new Set(refused?.map(({ json }) => (json as { detail: string }).detail)),
  };
}

test("the shop never sells more than its stock, and leaves nothing that fits unsold", async (t) => {
  const module = readFileSync("examples/shop/holdfast.config.ts", "utf8");
  const service = await start(t, module, { products: [{ id: "pen", name: "Pen", price: 250, stock: 41 }] });
  const order = { productId: "pen", count: 2, email: "eve@example.org" };
  const { ids, details } = await sendAtOnce(service, "/api/v1/buy", order);
  assert.equal(ids.size, 20);
  assert.deepEqual([...details], ['"count" is more than the stock.']);
  const { json } = await service.send({ path: "/api/v1/products/pen" });
  assert.equal((json as { stock: number }).stock, 1);
});

test("the club of the guide never books more seats than there are, and leaves none free", async (t) => {
  const module = fileOf(readFileSync("docs/how-to/add-your-own-logic.md", "utf8"));
  const event = { id: "sailing", title: "Sailing", price: 1200, seats: 20, booked: 0, free: 20 };
  const service = await start(t, module, { events: [event] });
  const { ids, details } = await sendAtOnce(service, "/api/v1/book/sailing", { email: "eve@example.org" });
  assert.equal(ids.size, 20);
  assert.deepEqual([...details], ["The event has no free seat."]);
  const { json } = await service.send({ path: "/api/v1/events/sailing" });
  assert.deepEqual(json, { ...event, booked: 20, free: 0 });
});
