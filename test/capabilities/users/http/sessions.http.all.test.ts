/** A session ends by its times, by its user, and with its account. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { machineTime, until } from "../../../until.ts";
import { bearer, bodyOf, goodPassword, type People, problemOf, type Signed, startPeople } from "./people.ts";

const ada = "ada@example.org";
const dayMs = 24 * 3_600_000;

const own = ({ service }: People, token: string) =>
  service.send({ path: "/api/v1/_auth/sessions", headers: bearer(token) });

test("a session ends after its idle time, and after its whole time although it is used", async (t) => {
  let [now, elapsed] = [machineTime(), 0];
  const people = await startPeople(t, { now: () => now, elapsed: () => elapsed });
  const wait = (ms: number) => {
    now += ms;
    elapsed += ms;
  };
  const [idle, used] = [await people.join(ada), await people.join("bob@example.org")];
  for (let day = 13; day <= 78; day += 13) {
    wait(13 * dayMs);
    bodyOf(await own(people, used.token));
    await until("the use is stored", async () => {
      const { sessions } = bodyOf<{ sessions: { usedAt: string }[] }>(await own(people, used.token));
      return now - Date.parse(sessions[0]?.usedAt ?? "") < 300_000;
    });
  }
  assert.equal(problemOf(await own(people, idle.token)), "401 INVALID_TOKEN");
  wait(12 * dayMs);
  assert.equal(problemOf(await own(people, used.token)), "401 INVALID_TOKEN");
});

test("a user has at most 50 sessions: the longest unused one ends", async (t) => {
  const people = await startPeople(t);
  const first = await people.join(ada);
  for (let n = 1; n <= 50; n++) bodyOf(await people.post("sign-in", { email: ada, password: goodPassword }));
  await until("the first session has ended", async () => (await own(people, first.token)).status === 401);
});

test("a sign-in of a caller with a session ends that session", async (t) => {
  const people = await startPeople(t);
  const first = await people.join(ada);
  const asked = { email: ada, password: goodPassword };
  const second = bodyOf<Signed>(await people.post("sign-in", asked, bearer(first.token)));
  await until("the first session has ended", async () => (await own(people, first.token)).status === 401);
  bodyOf(await own(people, second.token));
});

test("no request reaches the internal collections by name", async (t) => {
  const people = await startPeople(t);
  const { token, user } = await people.join(ada);
  const headers = bearer(token);
  for (const name of ["_sessions", "_tickets", "_mail", "_guesses", "_secrets"]) {
    const reads = [
      `/${name}`,
      `/${name}/${user.id}`,
      `/${name}/_changes`,
      `/${name}/_events`,
      `/${name}/_schema`,
    ];
    for (const path of reads)
      assert.equal((await people.service.send({ path: `/api/v1${path}`, headers })).status, 404, path);
    for (const path of [`/${name}`, `/${name}/_bulk`, `/${name}/_import`]) {
      const request = { method: "POST", path: `/api/v1${path}`, content: {}, headers };
      assert.equal((await people.service.send(request)).status, 404, path);
    }
    const batch = { operations: [{ method: "GET", path: `/${name}/${user.id}` }] };
    const inBatch = await people.service.send({
      method: "POST",
      path: "/api/v1/_batch",
      content: batch,
      headers,
    });
    assert.equal(inBatch.status, 400, inBatch.text);
    const rewind = { to: new Date(machineTime()).toISOString(), collections: [name] };
    const back = await people.service.send({
      method: "POST",
      path: "/api/v1/_rewind",
      content: rewind,
      headers,
    });
    assert.notEqual(back.status, 200);
  }
  const names = bodyOf<{ name: string }[]>(await people.service.send({ path: "/api/v1", headers }));
  assert.equal(JSON.stringify(names).includes('"_'), false);
});
