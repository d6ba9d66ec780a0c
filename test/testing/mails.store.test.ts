import assert from "node:assert/strict";
import { test } from "node:test";
import { defineConfig } from "../../src/index.ts";
import { startInMemoryFor } from "./service.ts";

const config = defineConfig({
  auth: {
    users: { collection: "users", signUp: "open", password: { breached: true } },
    administrators: [{ role: "ops" }],
  },
  mail: { from: "shop@shop.example", smtp: "smtps://user@mail.shop.example" },
  publicUrl: "https://shop.example",
  collections: {
    users: {
      schema: { type: "object", properties: { name: { type: "string" } } },
      access: { read: "authenticated", update: { where: { id: "$subject" } } },
    },
  },
});

test("a user signs up with the code in a mail, signs in with a password, and is a caller", async (t) => {
  const lines: unknown[] = [];
  const log = {
    warn: (...line: unknown[]) => lines.push(line),
    error: (...line: unknown[]) => lines.push(line),
  };
  const service = await startInMemoryFor(t, config, { log });
  const client = service.client();
  const email = "ada@x.example";
  const ticket = await client.$auth.signUp({
    email,
    password: "correct horse battery",
    profile: { name: "Ada" },
  });
  const [mail] = await service.mail();
  assert.equal(mail?.to, email);
  const [code = ""] = /[0-9A-Z]{4}-[0-9A-Z]{4}/.exec(mail?.text ?? "") ?? [];
  const { user } = (await ticket.verify(code)) as { user: { id: string } };
  assert.equal((await client.users.get(user.id)).name, "Ada");
  await client.$auth.signOut();
  await assert.rejects(client.users.get(user.id), { status: 401 });
  await assert.rejects(client.$auth.signIn({ email, password: "wrong horse battery" }), { status: 401 });
  await client.$auth.signIn({ email, password: "correct horse battery" });
  await service.client({ subject: user.id }).users.patch(user.id, { name: "Ada L." });
  assert.equal((await client.users.get(user.id)).name, "Ada L.");
  assert.deepEqual(lines, []);
});

test("without users, there are no mails", async (t) => {
  const service = await startInMemoryFor(t, {});
  await assert.rejects(service.mail(), { message: /no auth.users/ });
});
