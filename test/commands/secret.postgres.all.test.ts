/** `holdfast secret replace-lost`: a store whose secret is lost gets another one. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { newSecret } from "../../src/secrets.ts";
import { openReader, type StoreAddress } from "../../src/store/open.ts";
import { codeAt } from "../capabilities/users/http/authenticator-app.ts";
import { bearer, bodyOf, goodPassword, problemOf, startPeople } from "../capabilities/users/http/people.ts";
import { startReceiver } from "../capabilities/webhooks/http/receiver.ts";
import { makeFolder } from "../folder.ts";
import { startService } from "../http/service.ts";
import { databaseFor } from "../postgres/databases.ts";
import { machineTime, until } from "../until.ts";
import { run } from "./cli.ts";

const ada = "ada@example.org";

/** A folder with the configuration of a service with users, on a store of this kind. */
async function placeOf(t: TestContext, kind: string): Promise<{ cwd: string; store: StoreAddress }> {
  const collections = { users: { id: "uuid", access: { read: "public" } } };
  const config = (store: string) => ({
    "holdfast.config.json": JSON.stringify({ store, collections, auth: { users: { collection: "users" } } }),
  });
  if (kind === "SQLite") {
    const cwd = makeFolder(config("sqlite:a.db"));
    return { cwd, store: { kind: "sqlite", path: join(cwd, "a.db") } };
  }
  const url = await databaseFor(t);
  return { cwd: makeFolder(config(url)), store: { kind: "postgres", url } };
}

for (const kind of ["SQLite", "PostgreSQL"]) {
  test(`on ${kind}, a service whose secret is lost starts with a new one after a command that says what is lost`, async (t) => {
    const { cwd, store } = await placeOf(t, kind);
    const receiver = await startReceiver();
    t.after(() => receiver.close());
    const [lost, secret] = [newSecret(), newSecret()];
    const first = await startService({ store, secrets: [lost] });
    const hook = { url: receiver.url, collections: ["topics"] };
    const made = await first.send({ method: "POST", path: "/api/v1/_webhooks", content: hook });
    const { id } = made.json as { id: string };
    const rotated = await first.send({ method: "POST", path: `/api/v1/_webhooks/${id}/_rotate` });
    assert.equal(rotated.status, 200, rotated.text); // so two secrets are lost
    await first.stop();
    const { service, join: signUp, post } = await startPeople(t, { store, secrets: [lost] });
    await signUp("grace@example.org");
    const header = bearer((await signUp(ada)).token);
    const app = bodyOf<{ ticket: string; secret: string }>(await post("factors", { kind: "totp" }, header));
    const totp = codeAt(app.secret, machineTime());
    const added = await post("factors", { ticket: app.ticket, totp, name: "phone" }, header);
    const { recoveryCodes } = bodyOf<{ recoveryCodes: string[] }>(added);
    await service.stop();

    await assert.rejects(startService({ store, secrets: [secret] }), /run "holdfast secret replace-lost"/);
    const replaceLost = (env: Record<string, string>) => run(t, ["secret", "replace-lost"], { cwd, env });
    const without = await replaceLost({});
    assert.deepEqual([without.exitCode, without.stdout], [1, ""]);
    assert.match(without.stderr, /HOLDFAST_SECRET .*"holdfast secret" prints one/);
    const stored = async () => {
      const reader = await openReader(store);
      let texts = "";
      for await (const { text } of reader.scan("_webhooks")) texts += text;
      await reader.close();
      return texts;
    };
    const before = await stored();
    const known = await replaceLost({ HOLDFAST_SECRET: lost });
    assert.deepEqual(
      [known.exitCode, known.stdout, known.stderr],
      [0, "", "the service starts with this HOLDFAST_SECRET\n"],
    );
    assert.equal(await stored(), before);

    const done = await replaceLost({ HOLDFAST_SECRET: secret });
    assert.equal(done.exitCode, 0, done.stderr);
    const { secret: ofHook, ...shown } = JSON.parse(done.stdout) as { secret: string };
    assert.deepEqual(shown, { id, url: receiver.url });
    assert.match(
      done.stderr,
      /the authenticator app of ada@example\.org .* users reset-factors ada@example\.org/,
    );
    assert.doesNotMatch(done.stderr, /grace/);
    for (const each of [lost, secret, ofHook]) assert.ok(!done.stderr.includes(each));

    const again = await startService({ store, secrets: [secret] });
    receiver.secret = ofHook;
    await again.create("topics");
    await until("a delivery", () => receiver.received.length > 0);
    await again.stop();

    const people = await startPeople(t, { store, secrets: [secret] });
    const signIn = await people.post("sign-in", { email: ada, password: goodPassword });
    const { ticket } = bodyOf<{ ticket: string }>(signIn);
    const withApp = await people.post("second-factor", { ticket, totp });
    assert.equal(problemOf(withApp), "401 SIGN_IN_FAILED");
    bodyOf(await people.post("second-factor", { ticket, recoveryCode: recoveryCodes[0] }));
    await people.service.stop();
  });
}
