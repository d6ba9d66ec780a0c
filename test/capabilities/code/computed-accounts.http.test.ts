/** Computed attributes of the profiles of users. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startService } from "../../http/service.ts";

test("attributes that follow an account cannot be sources", async () => {
  const module = `export default {
    auth: { users: { collection: "people", signUp: "open", mirror: { email: "email" } } },
    collections: {
      people: {
        access: { read: "authenticated", write: "authenticated" },
        schema: { type: "object", properties: { email: { type: "string", readOnly: true } } },
        computed: { domain: { from: ["email"], value: ({ email }) => email?.split("@")[1] } },
      },
    },
  };`;
  await assert.rejects(startService({ module }), {
    message:
      'collections.people.computed.domain: the service itself changes "email" to what the account has, and computes nothing then. Compute without it.',
  });
});
