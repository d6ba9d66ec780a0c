/** What users change about their own accounts, and what proves that it is them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../until.ts";
import { bearer, bodyOf, goodPassword, type People, problemOf, type Signed, startPeople } from "./people.ts";

const ada = "ada@example.org";
const bob = "bob@example.org";

/** The names in the profile, and a little more. */
const profile = { name: "Bartholomew", about: "Fotheringay" };
const guessable = ["bartholomew12", "fotheringay12"];

const inADay = () => new Date(Date.now() + 86_400_000).toISOString();

/** A key of the user for a program. */
async function keyOf({ post }: People, token: string, scopes?: string[]): Promise<string> {
  const asked = { name: "backup", expiresAt: inADay(), ...(scopes && { scopes }) };
  return bodyOf<{ token: string }>(await post("sessions", asked, bearer(token)), 201).token;
}

test("every new password is compared with the texts of the profile", async (t) => {
  const people = await startPeople(t, { users: { signUp: { domains: ["example.org"], roles: ["ops"] } } });
  const { post, codeFor, service, mails } = people;
  const { token } = await people.join(ada, { profile });
  const { ticket } = bodyOf<{ ticket: string }>(await post("reset", { email: ada }), 202);
  const code = await codeFor(ada, 1);
  const invited = { email: bob, profile };
  bodyOf(
    await service.send({
      method: "POST",
      path: "/api/v1/_invitations",
      content: invited,
      headers: bearer(token),
    }),
    201,
  );
  await until("the invitation", () => mails.some(({ to }) => to === bob));
  const text = mails.find(({ to }) => to === bob)?.text ?? "";
  const invitation = /invitation=([\w-]+)/.exec(text)?.[1];
  for (const password of guessable) {
    for (const [path, content, headers] of [
      ["password", { password }, bearer(token)],
      ["password", { ticket, code, password }, {}],
      ["sign-up", { email: bob, password, invitation }, {}],
    ] as const)
      assert.equal(problemOf(await post(path, content, headers)), "400 PASSWORD_REFUSED", password);
  }
  bodyOf(await post("password", { ticket, code, password: "another horse and a battery" }));
});

test("a mail tells the user of a new key for a program", async (t) => {
  const people = await startPeople(t);
  const { token } = await people.join(ada);
  await keyOf(people, token);
  await until("the notice", () =>
    people.mails.some(
      ({ to, text }) => to === ada && text.includes("A key with which a program acts as you"),
    ),
  );
});
