import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { run } from "../../commands/cli.ts";
import { makeFolder } from "../../folder.ts";
import { holdfastModule } from "../../http/service.ts";

const configuration = (validate: string) => `
import { refuse } from ${JSON.stringify(holdfastModule)};
export default {
  collections: {
    events: {},
    bookings: {
      schema: { properties: { eventId: { type: "string" }, seats: { type: "integer" } } },
      references: { eventId: "events" },
      hooks: { with: ["event"], before: ({ resource }) => ({ ...resource, seats: resource.seats ?? 1 }), validate: ${validate} },
    },
  },
};
`;

test("imports and check --hooks run the hooks without a service", async (t) => {
  const cwd = makeFolder();
  const write = (name: string, text: string) => writeFileSync(join(cwd, name), text);
  const call = (...args: string[]) => run(t, args, { cwd });
  write(
    "holdfast.config.mjs",
    configuration('({ resource }) => { if (resource.seats > 5) refuse("seats", "must be at most 5"); }'),
  );
  write("events.ndjson", '{"id":"e1","seats":2}\n');
  write("bookings.ndjson", '{"id":"b1","eventId":"e1"}\n{"id":"b2","eventId":"e1","seats":3}\n');
  const events = await call("import", "events", "events.ndjson");
  assert.equal(events.exitCode, 0, events.stderr);
  write("bad.ndjson", '{"id":"b3","seats":9}\n');
  const refused = await call("import", "bookings", "bad.ndjson");
  assert.equal(refused.exitCode, 1);
  assert.match(refused.stdout + refused.stderr, /"?seats"? must be at most 5/);
  assert.equal((await call("import", "bookings", "bookings.ndjson")).exitCode, 0);
  const fine = await call("check", "--hooks");
  assert.equal(fine.exitCode, 0, fine.stdout + fine.stderr);
  assert.match(fine.stdout, /^bookings: 2 resources by its hooks, all fit$/m);

  const stricter =
    '({ resource, related }) => { if (resource.seats > related.event.seats) refuse("seats", "are more than the event has"); }';
  const other = makeFolder();
  writeFileSync(join(other, "holdfast.config.mjs"), configuration(stricter)); // modules are cached by their paths
  const found = await run(t, ["check", "--hooks", "--store", `sqlite:${join(cwd, "holdfast.db")}`], {
    cwd: other,
  });
  assert.equal(found.exitCode, 1);
  assert.match(
    found.stdout,
    /^bookings: 2 resources by its hooks, 1 does not fit\n {2}"b2": "seats" are more than the event has$/m,
  );
  const failing = makeFolder();
  writeFileSync(
    join(failing, "holdfast.config.mjs"),
    configuration('() => { throw new Error("of the hook"); }'),
  );
  const failed = await run(t, ["check", "--hooks", "--store", `sqlite:${join(cwd, "holdfast.db")}`], {
    cwd: failing,
  });
  assert.match(failed.stderr, /a hook failed: collections\.bookings\.hooks\.validate: Error: of the hook/);
});
