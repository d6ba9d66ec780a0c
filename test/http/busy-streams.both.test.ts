import assert from "node:assert/strict";
import { test } from "node:test";
import { eventsOf, linkOf } from "./follow.ts";
import { startFor } from "./service.ts";

test("a busy collection does not delay the events of the others", async (t) => {
  const service = await startFor(t);
  const operations = Array.from({ length: 20 }, (_, n) => ({ method: "POST", path: "/a", body: { n } }));
  const write = async () => {
    const sent = await service.send({ method: "POST", path: "/api/v1/_batch", content: { operations } });
    assert.equal(sent.status, 200, sent.text);
  };
  for (const name of ["a", "b", "c"]) await service.create(name, { n: 0 });
  let next = linkOf(
    await service.send({ path: "/api/v1/_events?collection=a,b,c&limit=10&since=now" }),
    "next",
  );
  await service.create("b", { n: 1 });
  await service.create("c", { n: 1 });
  const missing = new Set(["b.created", "c.created"]);
  // Each collection is the first one on a third of the pages. The first collection never reaches its end.
  for (let pages = 0; missing.size > 0; pages++) {
    assert.ok(pages < 60, `after ${pages} pages, ${[...missing]} did not come`);
    await write();
    const page = await service.send({ path: next });
    for (const { type } of eventsOf(page)) missing.delete(type);
    next = linkOf(page, "next");
  }
});
