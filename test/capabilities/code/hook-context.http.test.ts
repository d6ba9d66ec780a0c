/** What a hook knows of a write: the caller, the time, related resources and hidden attributes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startFor } from "../../http/service.ts";

const booking = `
import { defineConfig, refuse } from "holdfast";

export default defineConfig({
  collections: {
    events: { schema: { type: "object", properties: { price: { type: "number" }, seats: { type: "integer" } } } },
    bookings: {
      schema: {
        type: "object",
        properties: { eventId: { type: "string" }, price: { type: "number" }, at: { type: "string" } },
        required: ["eventId", "price"],
      },
      references: { eventId: "events" },
      hooks: {
        with: ["event"],
        before: ({ resource, related, now, caller }) => ({
          ...resource,
          price: related.event?.price ?? 0,
          at: now.toISOString(),
        }),
        validate: ({ related, caller }) => {
          if (caller !== undefined) throw new Error("Nobody has a credential here.");
          if (related.event?.seats === 0) refuse("eventId", "has no seat left");
        },
      },
    },
  },
});
`;

test("a hook gets related resources and the time of the write", async (t) => {
  const at = Date.UTC(2030, 0, 2);
  const { send, create } = await startFor(t, { module: booking, now: () => at });
  const event = await create("events", { price: 12, seats: 1 });
  const { body } = await create("bookings", { eventId: event.id });
  assert.deepEqual([body.price, body.at], [12, "2030-01-02T00:00:00.000Z"]);
  const operations = [
    { method: "PATCH", path: `/events/${event.id}`, body: { seats: 0 } },
    { method: "POST", path: "/bookings", body: { eventId: event.id } },
  ];
  const full = await send({ method: "POST", path: "/api/v1/_batch", content: { operations } });
  assert.equal(full.status, 400, "a hook sees what an earlier operation of its batch has changed");
  assert.match((full.json as { message: string }).message, /"eventId" has no seat left/);
  const missing = await send({
    method: "POST",
    path: "/api/v1/bookings",
    content: { eventId: crypto.randomUUID() },
  });
  assert.equal((missing.json as { code: string }).code, "REFERENCE_NOT_FOUND");
});

const hidden = `
import { defineConfig, forbid, refuse } from "holdfast";

export default defineConfig({
  auth: { keys: true, administrators: [{ role: "admin" }] },
  collections: {
    notes: {
      schema: { type: "object", properties: { text: { type: "string" }, score: { type: "integer" }, by: { type: "string" } } },
      access: { read: "public", create: "public", update: "public", delete: "public" },
      attributes: { score: { roles: ["admin"] }, by: { readOnly: true } },
      hooks: {
        before: ({ resource, caller }) => ({ score: 1, ...resource, by: caller?.subject ?? "nobody" }),
        validate: ({ operation, resource, caller }) => {
          if (resource.text === "scored") refuse("score", "is too low", { code: "low" });
          if (resource.text === "forbidden") forbid("Nobody can write this.");
        },
      },
    },
  },
});
`;

test("before sets attributes that the caller cannot set or see, and a refusal at one of them has no pointer", async (t) => {
  const { send } = await startFor(t, { module: hidden });
  const post = (text: string) => send({ method: "POST", path: "/api/v1/notes", content: { text } });
  const made = await post("plain");
  assert.deepEqual([made.status, (made.json as { by: string }).by], [201, "nobody"], made.text);
  assert.equal("score" in (made.json as object), false);
  const refused = await post("scored");
  assert.deepEqual((refused.json as { violations: unknown }).violations, [
    { in: "body", pointer: "#", code: "low", detail: "is too low" },
  ]);
  assert.doesNotMatch(refused.text, /score/);
  const forbidden = await post("forbidden");
  assert.deepEqual(
    [forbidden.status, (forbidden.json as { detail: string }).detail],
    [403, "Nobody can write this."],
  );
});

test("a sign-up whose profile a hook forbids, or cannot judge, is not accepted", async (t) => {
  const module = `
import { forbid } from "holdfast";

export default {
  auth: { users: { collection: "people", signUp: "open" } },
  collections: {
    people: {
      access: { read: "authenticated", write: "authenticated" },
      hooks: {
        validate: ({ resource }) => {
          if (resource.name === "nobody") forbid("nobody cannot sign up");
          if (resource.name === "wrong") throw new Error("no luck");
        },
      },
    },
  },
};
`;
  const { send } = await startFor(t, { module });
  const signUp = async (name: string) => {
    const content = {
      email: `${name}@example.com`,
      password: "correct horse battery staple",
      profile: { name },
    };
    return (await send({ method: "POST", path: "/api/v1/_auth/sign-up", content }, { mayFail: true })).status;
  };
  assert.deepEqual([await signUp("ada"), await signUp("nobody"), await signUp("wrong")], [202, 403, 500]);
});
