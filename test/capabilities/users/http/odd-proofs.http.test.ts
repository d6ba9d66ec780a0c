/** Proofs in a spelling that nobody types: each is a wrong proof, and none is a failure of the service. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { machineTime } from "../../../until.ts";
import { start as startAudited } from "./audit-fixture.ts";
import { codeAt } from "./authenticator-app.ts";
import { bearer, bodyOf, goodPassword, problemOf, type Signed } from "./people.ts";
import { ada, addApp, byPassword, type Step, start } from "./second-factors.ts";

const eve = "eve@root.example";

/** Texts that a library can throw for. */
const oddTexts = [
  "１２３４５６",
  "١٢٣٤٥٦",
  "ééééée",
  "🦉🦉🦉🦉🦉🦉",
  "12345\u0000",
  "\ud800\ud800\ud800\ud800\ud800\ud800",
  "      ",
  "-00001",
  "1e5   ",
  "0x1234",
];

test("a used ticket is used in every spelling", async (t) => {
  const all = await start(t);
  const { post, join, wait, code } = all;
  const { token } = await join(ada);
  const { secret } = await addApp(all, token);
  wait(60_000);
  const { ticket } = bodyOf<Step>(await post("sign-in", byPassword));
  bodyOf<Signed>(await post("second-factor", { ticket, totp: code(secret) }));
  const last = ticket.at(-1) ?? "";
  const spellings = [
    `${ticket}=`,
    `${ticket}==`,
    `${ticket}\n`,
    `${ticket} `,
    ` ${ticket}`,
    `${ticket}.`,
    `${ticket}.x`,
    ticket.replace(".", ".\n"),
    ...[..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"]
      .filter((each) => each !== last)
      .map((each) => ticket.slice(0, -1) + each),
  ];
  for (const spelling of spellings) {
    wait(1_000); // the code is another one after 30 of them
    const answer = await post("second-factor", { ticket: spelling, totp: code(secret) });
    assert.equal(problemOf(answer), "401 SIGN_IN_FAILED", JSON.stringify(spelling));
  }
});

test("an app is set up once with one ticket", async (t) => {
  const all = await start(t);
  const { post, join, code } = all;
  const { token } = await join(ada);
  const { ticket, secret } = await addApp(all, token);
  for (const more of ["", "=", "\n", ".x"]) {
    const sent = { ticket: `${ticket}${more}`, totp: code(secret), name: "again" };
    assert.equal(problemOf(await post("factors", sent, bearer(token))), "401 SIGN_IN_FAILED", more);
  }
});

test("a code of other characters is a wrong code, and the audit has it", async (t) => {
  const now = machineTime();
  const { post, join, audit } = await startAudited(t, { now: () => now });
  const { token } = await join(eve);
  await addApp({ post, code: (secret) => codeAt(secret, now) }, token);
  const failed = async () => {
    const { entries } = await audit();
    return entries.reduce((sum, { result, count = 1 }) => (result === "failed" ? sum + count : sum), 0);
  };
  for (const totp of oddTexts.filter((each) => each.isWellFormed() && !each.includes("\0"))) {
    const { ticket } = bodyOf<Step>(await post("sign-in", { email: eve, password: goodPassword }));
    const before = await failed();
    assert.equal(problemOf(await post("second-factor", { ticket, totp })), "401 SIGN_IN_FAILED", totp);
    assert.equal(await failed(), before + 1, totp);
  }
});

test("an odd text is a wrong password, code or ticket", async (t) => {
  const { post, join, service } = await start(t);
  const { token } = await join(ada);
  const paths = [
    "sign-in",
    "code",
    "reset",
    "sign-up",
    "email",
    "password",
    "confirm",
    "factors",
    "second-factor",
  ];
  for (const text of oddTexts) {
    const whole = {
      email: ada,
      password: text,
      ticket: text,
      code: text,
      totp: text,
      recoveryCode: text,
      kind: text,
    };
    for (const path of paths)
      for (const content of [
        whole,
        { email: text, password: goodPassword },
        { ticket: text, code: text },
        { kind: text },
      ])
        assert.ok((await post(path, content, bearer(token))).status < 500, `${path} ${text}`);
  }
  assert.equal((await service.send({ path: "/api/v1/_auth", headers: bearer(token) })).status, 200);
});
