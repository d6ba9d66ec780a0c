/** The reference page of webhooks agrees with the code. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { maxFailingMs } from "../../../../src/capabilities/webhooks/delivery.ts";
import { secretSizes } from "../../../../src/capabilities/webhooks/signature.ts";
import { maxWebhooks } from "../../../../src/capabilities/webhooks/webhook.ts";
import { longestRetryAfterMs, retryWaits, waitAfter } from "../../../../src/changes/consume/retries.ts";

const page = readFileSync("docs/reference/webhooks.md", "utf8").replace(/\s+/g, " ");

const units = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000 };
type Unit = keyof typeof units;

test("the page lists the retries", () => {
  const rows = [...page.matchAll(/\| (\d) \| (\d+) (second|minute|hour)s? \|/g)];
  const waits = rows.map(([, , number, unit]) => Number(number) * units[unit as Unit]);
  assert.deepEqual(waits, retryWaits);
  assert.deepEqual(
    rows.map(([, attempt]) => Number(attempt)),
    retryWaits.map((_, n) => n + 1),
  );
  const share = Number(/Each wait is up to (\d+) % shorter or longer/.exec(page)?.[1]) / 100;
  for (const [n, wait] of retryWaits.entries()) {
    assert.equal(waitAfter(n + 1, 0), wait * (1 - share));
    assert.equal(waitAfter(n + 1, 1), wait * (1 + share));
  }
  assert.equal(waitAfter(retryWaits.length + 1, 0.5), undefined);
});

test("the page says how long a receiver can put a retry off, and when a webhook is disabled", () => {
  assert.ok(page.includes(`up to ${longestRetryAfterMs / units.hour} hours`));
  assert.ok(page.includes("every delivery fails for five days"));
  assert.equal(maxFailingMs, 5 * units.day);
  assert.ok(page.includes(`${maxWebhooks} webhooks`));
  assert.ok(page.includes(`\`whsec_\` and ${secretSizes.least} to ${secretSizes.most} bytes in base64`));
});
