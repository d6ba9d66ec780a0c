/** The dashboard and the alerts in docs/monitoring: what they query exists in a real scrape. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { before, test } from "node:test";
import { parse } from "yaml";
import { openToAll } from "../capabilities/users/http/people.ts";
import { type Exposition, readExposition } from "../metrics/exposition.ts";
import { selectedIn } from "../metrics/promql.ts";
import { whyNoPromtool } from "../metrics/promtool.ts";
import { families } from "./families.ts";
import { startServiceForFile } from "./service.ts";
import { isOnPostgres } from "./test-store.ts";

const service = await startServiceForFile({
  metrics: { host: "127.0.0.1", port: 0 },
  collections: { users: {} },
  auth: { keys: false, jwt: undefined, administrators: [{ role: "ops" }], users: openToAll },
});
const alertsFile = "docs/monitoring/alerts.yml";

/** Labels that Prometheus adds. */
const target = new Set(["job", "instance"]);

interface Dashboard {
  title: string;
  panels: { id: number; title: string; targets?: { expr: string; legendFormat: string }[] }[];
  templating: { list: { name: string; query: unknown }[] };
}

interface Alerts {
  groups: { rules: { alert: string; expr: string; labels: { severity: string }; annotations: object }[] }[];
}

const dashboard = JSON.parse(readFileSync("docs/monitoring/dashboard.json", "utf8")) as Dashboard;
const rules = (parse(readFileSync(alertsFile, "utf8")) as Alerts).groups.flatMap((group) => group.rules);

let scraped: Exposition;
before(async () => {
  // One more wrong password than a limit allows.
  for (let n = 0; n <= 10; n++) {
    const content = { email: "ada@example.org", password: "wrong wrong wrong" };
    await service.send({ method: "POST", path: "/api/v1/_auth/sign-in", content });
  }
  scraped = readExposition(await (await fetch(String(service.metrics))).text());
});

/** Metrics of the other kind of store, and of functions of a configuration, are not in this scrape. */
function isElsewhere(name: string): boolean {
  if (/^holdfast_code_(?:seconds|failures)/.test(name)) return true;
  if (isOnPostgres) return /checkpoint|log_/.test(name);
  return name.startsWith("holdfast_store_connections") && Object.hasOwn(families, name);
}

function requireKnown(query: string, place: string): void {
  const plain = query.replaceAll("$__rate_interval", "5m").replaceAll("$instance", ".*");
  for (const { name, labels } of selectedIn(plain)) {
    if (name === "up" || isElsewhere(name)) continue;
    const samples = scraped.all(name);
    assert.ok(samples.length > 0, `${place}: no metric ${name}`);
    const known = Object.keys(samples[0]?.labels ?? {});
    for (const label of labels)
      assert.ok(target.has(label) || known.includes(label), `${place}: ${name} has no label ${label}`);
  }
}

test("every query of the dashboard names metrics and labels of a scrape", () => {
  const queries = dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ title, expr })),
  );
  assert.ok(queries.length > 30);
  for (const { title, expr } of queries) requireKnown(expr, title);
});

test("every legend of the dashboard shows labels that its query keeps", () => {
  for (const { title, targets = [] } of dashboard.panels)
    for (const { expr, legendFormat } of targets)
      for (const [, label = ""] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
        assert.ok(
          target.has(label) || new RegExp(`by \\([^)]*\\b${label}\\b`).test(expr) || !expr.includes("("),
          `${title}: ${label}`,
        );
});

test("the panels have ids of their own, and the variables are those that the queries use", () => {
  assert.equal(new Set(dashboard.panels.map(({ id }) => id)).size, dashboard.panels.length);
  assert.deepEqual(
    dashboard.templating.list.map(({ name }) => name),
    ["datasource", "instance"],
  );
});

test("every own metric is in the dashboard or in an alert", () => {
  const queries = [
    ...dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
    ...rules.map(({ expr }) => expr),
  ].join("\n");
  assert.deepEqual(
    Object.keys(families).filter((name) => !queries.includes(name)),
    [],
  );
});

test("every alert queries metrics and labels of a scrape, and says what it means", () => {
  assert.ok(rules.length >= 10);
  for (const { alert, expr, labels, annotations } of rules) {
    requireKnown(expr, alert);
    assert.match(labels.severity, /^(?:critical|warning)$/);
    assert.deepEqual(Object.keys(annotations), ["summary", "description"], alert);
  }
});

test("promtool accepts the alerts", { skip: whyNoPromtool() }, () => {
  assert.match(execFileSync("promtool", ["check", "rules", alertsFile], { encoding: "utf8" }), /SUCCESS/);
});
