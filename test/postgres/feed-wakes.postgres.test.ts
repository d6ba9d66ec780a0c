import assert from "node:assert/strict";
import { test } from "node:test";
import { eventsOf, linkOf } from "../http/follow.ts";
import { databaseFor } from "./databases.ts";
import { followAcross, report, startTwo } from "./two-instances.ts";

test("a commit of one instance wakes the streams of the other", async (t) => {
  const url = await databaseFor(t);
  report(t, await followAcross(t, url));
});

test("now is after the last change, also of a collection that the other instance has just created", async (t) => {
  const url = await databaseFor(t);
  const [one, other] = await startTwo(t, url);
  for (const name of ["a", "b", "c"]) {
    await one.create(name, { n: 0 });
    const path = linkOf(await other.send({ path: "/api/v1/_events?since=now" }), "next");
    await one.create(name, { n: 1 });
    const events = eventsOf(await other.send({ path }));
    assert.deepEqual(
      events.map(({ type, data }) => [type, data.n]),
      [[`${name}.created`, 1]],
    );
  }
  // The position of one instance has a collection that the other one does not know yet.
  for (const name of ["d", "e", "f"]) {
    await one.create(name, { n: 0 });
    const path = linkOf(await one.send({ path: "/api/v1/_events?since=now" }), "next");
    assert.deepEqual(eventsOf(await other.send({ path })), []);
  }
});
