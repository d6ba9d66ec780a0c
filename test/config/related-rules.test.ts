/** Rules about related resources that a configuration refuses, each with a message that says what would be right. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { loadConfig } from "../../src/config.ts";
import { StartError } from "../../src/errors.ts";
import { makeFolder } from "../folder.ts";

const text = { type: "string" } as const;

/** Loads a configuration whose bookings have this rule. Returns the faults. */
async function faultsOf(read: unknown, bookings: object = {}): Promise<readonly string[]> {
  const content = {
    auth: { keys: true },
    collections: {
      clubs: { schema: { properties: { name: text, plan: text } } },
      events: {
        schema: {
          properties: {
            status: text,
            seats: { type: "integer" },
            clubId: text,
            hostId: text,
            code: { type: "string", writeOnly: true },
            fee: { type: "number" },
            startsAt: { type: "string", format: "date-time" },
          },
        },
        references: { clubId: "clubs", hostId: { collection: "clubs", as: "host" } },
        attributes: { fee: { roles: ["finance"] } },
      },
      bookings: {
        schema: {
          properties: {
            eventId: text,
            eventIds: { type: "array", items: text },
            anyId: {},
            otherId: text,
            seat: { type: "integer" },
            note: text,
            at: { type: "string", format: "date-time" },
          },
        },
        references: {
          eventId: "events",
          eventIds: { collection: "events", as: "events" },
          otherId: { collection: "clubs", as: "other" },
        },
        access: { read },
        ...bookings,
      },
    },
  };
  const cwd = makeFolder();
  await writeFile(join(cwd, "holdfast.config.json"), JSON.stringify(content));
  try {
    await loadConfig({ flags: {}, env: {}, cwd });
    return [];
  } catch (error) {
    assert.ok(error instanceof StartError, String(error));
    return error.faults.map((fault) =>
      fault.text.replace("holdfast.config.json: collections.bookings.access.read", "…"),
    );
  }
}

const refused: readonly [name: string, rule: unknown, message: RegExp][] = [
  [
    "an unknown attribute",
    { where: { "event.state": "open" } },
    /"\/event.state", is not an attribute of "events".* Did you mean "event.status"/,
  ],
  [
    "a value of another type",
    { where: { "event.seats": "many" } },
    /is a number and cannot be compared with "many"/,
  ],
  ["a list of references", { where: { "events.status": "open" } }, /leads to several resources/],
  ["an inverse relation", { where: { "event.guests.note": "a" } }, /leads to several resources/],
  ["a third reference", { where: { "event.club.owner.name": "a" } }, /is not an attribute of "clubs"/],
  ["a write-only attribute", { where: { "event.code": "x" } }, /uses "code" of "events", which is writeOnly/],
  [
    "an attribute with roles",
    { where: { "event.fee": 3 } },
    /uses "fee" of "events", which only some roles can read. Add "role" to the rule, with one of "finance"/,
  ],
  [
    "an attribute with roles, for another role",
    { role: "staff", where: { "event.fee": 3 } },
    /with one of "finance"/,
  ],
  [
    "an attribute in a comparison",
    { where: { note: { eq: { attribute: "event.code" } } } },
    /which is writeOnly/,
  ],
  [
    "an unknown attribute to compare with",
    { where: { seat: { lt: { attribute: "event.places" } } } },
    /"event.places"/,
  ],
  [
    "two types",
    { where: { seat: { lt: { attribute: "note" } } } },
    /can never be true: one attribute is number, and the other one string/,
  ],
  [
    "a date and a number",
    { where: { at: { lt: { attribute: "event.seats" } } } },
    /only one of the attributes is a date/,
  ],
  [
    "an operator for texts",
    { where: { note: { contains: { attribute: "event.status" } } } },
    /cannot compare with an attribute. Only eq, ne, gt, gte, lt, lte can/,
  ],
  [
    "no operator",
    { where: { seat: { attribute: "event.seats" } } },
    /write \{"seat":\{"eq":\{"attribute":"event.seats"\}\}\}/,
  ],
  [
    "too many related resources",
    {
      where: {
        "event.club.name": "a",
        "event.host.name": "a",
        "other.name": "a",
        note: { ne: { attribute: "event.status" } },
        "fourth.name": "a",
      },
    },
    /follows 4 paths to related resources. A rule can follow 3 at most/,
  ],
];

for (const [name, rule, message] of refused)
  test(`a rule is refused for ${name}`, async () => {
    const more = {
      references: {
        eventId: { collection: "events", inverse: "guests" },
        eventIds: { collection: "events", as: "events" },
        otherId: { collection: "clubs", as: "other" },
        anyId: { collection: "clubs", as: "fourth" },
      },
      schema: {
        properties: {
          eventId: text,
          eventIds: { type: "array", items: text },
          anyId: text,
          otherId: text,
          seat: { type: "integer" },
          note: text,
          at: { type: "string", format: "date-time" },
        },
      },
    };
    const faults = await faultsOf(rule, more);
    assert.equal(faults.length, 1, faults.join("\n"));
    assert.match(faults[0] ?? "", message);
  });

test("a reference without a declared type is refused", async () => {
  const [fault, ...others] = await faultsOf(
    { where: { "event.status": "open" } },
    { schema: undefined, references: { eventId: { collection: "events", as: "event" } } },
  );
  assert.deepEqual(others, []);
  assert.match(
    fault ?? "",
    /follows the reference "eventId" of "bookings", and the schema does not say that it contains one id/,
  );
});

test("a reference without a name, where any attribute is allowed, is refused", async () => {
  const open = { schema: undefined, references: { eventId: "events" } };
  const [fault, ...others] = await faultsOf({ where: { "event.status": "open" } }, open);
  assert.deepEqual(others, []);
  assert.match(fault ?? "", /To follow the reference, set its "as" to "event"/);
});

const accepted: readonly [name: string, rule: unknown][] = [
  ["one reference", { where: { "event.status": "open" } }],
  ["two references", { where: { "event.club.plan": { ne: "free" } } }],
  ["the role of an attribute", { role: "finance", where: { "event.fee": { gt: 3 } } }],
  ["a comparison", { where: { seat: { lte: { attribute: "event.seats" } } } }],
  ["a comparison of dates", { where: { at: { gte: { attribute: "event.startsAt" } } } }],
  ["the caller", { where: { "event.hostId": "$subject" } }],
  [
    "three related resources",
    { where: { "event.club.name": "a", "event.host.name": "a", "other.name": "a" } },
  ],
];

for (const [name, rule] of accepted)
  test(`a rule can use ${name}`, async () => {
    assert.deepEqual(await faultsOf(rule), []);
  });

test("a fault elsewhere does not add faults to rules about related resources", async () => {
  const faults = await faultsOf({ where: { "event.status": "open" } }, { indexes: ["nothing"] });
  assert.equal(faults.length, 1, faults.join("\n"));
  assert.doesNotMatch(faults[0] ?? "", /where/);
});
