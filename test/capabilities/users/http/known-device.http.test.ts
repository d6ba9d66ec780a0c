/** A request for a code shows the device of an earlier sign-in. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeFolder } from "../../../folder.ts";
import { openTestStore } from "../../../http/test-store.ts";
import { settingsFor } from "../mail-server.ts";
import { problemOf, startPeople } from "./people.ts";

const email = "ada@example.org";

test("a known device gets its code although strangers have used up the mails of the service", async (t) => {
  const store = await openTestStore(makeFolder());
  t.after(() => store.release());
  const first = await startPeople(t, { store: store.address });
  const { device } = await first.join(email);
  await first.service.stop();
  assert.match(device ?? "", /^hfd_/);
  const mail = settingsFor(1, { perHour: 3 });
  const { service } = await startPeople(t, { store: store.address, mail });
  const ask = async (content: object) => {
    const request = { method: "POST", path: "/api/v1/_auth/code", content };
    const answer = await service.send(request, { mayFail: true });
    return answer.status === 202 ? "202" : problemOf(answer);
  };
  const strangers: string[] = [];
  for (let n = 0; n < 4; n++) strangers.push(await ask({ email }));
  assert.equal(strangers.at(-1), "503 UNAVAILABLE");
  assert.equal(await ask({ email, device: "hfd_another" }), "503 UNAVAILABLE");
  assert.equal(await ask({ email, device }), "202");
});
