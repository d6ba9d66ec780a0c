/** What a configuration can say about routes. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { compileRoutes } from "../../../src/capabilities/code/routes/route-schemas.ts";
import { readFilesOf } from "../../../src/config/derived-settings.ts";
import { compileConfig, loadConfig } from "../../../src/config.ts";
import { StartError } from "../../../src/errors.ts";
import { makeFolder } from "../../folder.ts";

const run = () => {};
const good = { path: "checkout", access: "public", run };

async function faultsOf(content: object): Promise<string[]> {
  const folder = makeFolder();
  try {
    const { code } = await compileConfig({ store: "sqlite:store.db", ...content }, folder);
    await compileRoutes(code.routes);
    return [];
  } catch (error) {
    assert.ok(error instanceof StartError, String(error));
    return error.faults.map(({ path, text }) => {
      assert.equal(path[0], "routes", text);
      return text;
    });
  }
}

const faultsOfRoute = (route: object) => faultsOf({ routes: { one: { ...good, ...route } } });

for (const route of [
  {},
  { path: "a/b/c/d/{e}", method: "POST", body: { type: "array", items: { type: "string" } } },
  { path: "Shop-1/~x/{a_1}", query: { type: "object", properties: { a: { type: "array" } } } },
  { response: { type: ["string", "null"] }, timeoutMs: 60_000, as: "service" },
  { method: "PUT", body: "text", as: { roles: ["a"] } },
  { method: "POST", body: { type: "object", properties: { id: { type: "string" }, of: { $ref: "#" } } } },
  { response: { $defs: { name: { type: "string" } }, type: "array", items: { $ref: "#/$defs/name" } } },
])
  test(`a route can be ${JSON.stringify(route)}`, async () => {
    assert.deepEqual(await faultsOfRoute(route), []);
  });

const faults: [route: object, fault: RegExp][] = [
  [{ path: undefined }, /^routes\.one\.path must be one to 5 segments such as "checkout\/\{orderId\}"/],
  [{ path: "/checkout" }, /without a slash at the beginning/],
  [{ path: "checkout/" }, /without a slash at the beginning and at the end/],
  [{ path: "a/b/c/d/e/f" }, /one to 5 segments/],
  [{ path: "_batch" }, /begins with an underscore, as the paths of the service itself/],
  [{ path: ".well-known/x" }, /the first segment of ".well-known\/x" must be a text/],
  [{ path: "{all}/x" }, /the first segment/],
  [{ path: "a/%2e" }, /"%2e" is not a segment/],
  [{ path: "a/../b" }, /"\.\." is not a segment/],
  [{ path: "a//b" }, /"" is not a segment/],
  [{ path: "a/x{b}" }, /"x\{b\}" is not a segment/],
  [{ path: "a/{b}/{b}" }, /has the parameter \{b\} more than once/],
  [{ method: "HEAD" }, /^routes\.one\.method must be "GET", "POST"/],
  [{ access: undefined }, /^routes\.one\.access is missing\. Say who can use the route/],
  [
    { access: "pubic" },
    /"pubic" is not a rule\. Did you mean "public"\? To name a role, write \{ role: "pubic" \}/,
  ],
  [{ access: [] }, /access must be "public", "authenticated"/],
  [{ access: { where: {} } }, /access must be \{ role: "editor" \}/],
  [{ access: "authenticated" }, /access: this needs "auth"\. .* or write "public"/],
  [{ access: { role: "a" } }, /this needs "auth"/],
  [{ body: { type: "object" } }, /^routes\.one\.body: requests with GET have no body\. Use query, or POST/],
  [{ method: "POST", body: 5 }, /body must be a JSON Schema, which is an object, or "text", not 5/],
  [
    { method: "POST", body: { type: "object", properties: { a: { type: "strin" } } } },
    /^routes\.one\.body at properties\/a\/type/,
  ],
  [{ response: { type: "array", items: { type: "strin" } } }, /^routes\.one\.response at items\/type/],
  [{ query: { type: "object" } }, /^routes\.one\.query must name the parameters in properties/],
  [
    { query: { type: "object", properties: { a: { type: "object" } } } },
    /query\.properties\.a must have one of the types/,
  ],
  [{ as: "admin" }, /^routes\.one\.as must be "service", or an object with roles/],
  [{ as: { roles: [] } }, /^routes\.one\.as\.roles must be a list of names of roles/],
  [{ timeoutMs: 0 }, /^routes\.one\.timeoutMs must be a whole number from 1 to 60000/],
  [{ timeoutMs: 60_001 }, /from 1 to 60000/],
  [{ run: "code" }, /^routes\.one\.run must be a function, not "code"/],
  [{ runs: run }, /^routes\.one\.runs is not an option\. Did you mean "run"\?/],
];

for (const [route, fault] of faults)
  test(`a route cannot be ${JSON.stringify(route)}`, async () => {
    const [text = "no fault", ...others] = await faultsOfRoute(route);
    assert.match(text, fault);
    assert.deepEqual(others, []);
  });

test("routes have different names and paths", async () => {
  const routes = {
    one: { ...good, path: "a/{b}" },
    two: { ...good, path: "a/{c}" },
    three: { ...good, path: "a/{c}", method: "POST" },
    "no name": good,
  };
  assert.deepEqual(await faultsOf({ routes: { ...routes, "no name": good } }), [
    "routes.no name: the name of a route begins with a letter, and has up to 63 letters, digits and underscores.",
  ]);
  const { one, two, three } = routes;
  assert.deepEqual(await faultsOf({ routes: { one, two, three } }), [
    'routes.two: the route "one" has the same path and method. Give one of them another path.',
    'routes.three.path: the route "one" has the same path with other parameters. Name them {b} here too.',
  ]);
  assert.deepEqual(await faultsOf({ routes: [] }), [
    "routes must be an object with a route for each name, not [].",
  ]);
  const many = Object.fromEntries(
    Array.from({ length: 201 }, (_, n) => [`r${n}`, { ...good, path: `r${n}` }]),
  );
  assert.match(String(await faultsOf({ routes: many })), /^routes has 201 routes\. The limit is 200\./);
});

test("a route cannot begin with the name of a collection", async () => {
  const content = { collections: { orders: {} }, routes: { one: { ...good, path: "orders/{id}/pay" } } };
  assert.deepEqual(await faultsOf(content), [
    'routes.one.path: "orders" is a collection, whose paths begin with it. Choose another first segment.',
  ]);
});

test("holdfast check finds the faults of schemas", async () => {
  const folder = makeFolder();
  const source =
    'export default { routes: { one: { path: "a", access: "public", response: { type: "strin" }, run: () => 1 } } };';
  writeFileSync(join(folder, "holdfast.config.js"), source);
  const config = await loadConfig({ cwd: folder, flags: {}, env: {} });
  await assert.rejects(readFilesOf(config, 0), /routes\.one\.response at type/);
});

test("a JSON file has no routes", async () => {
  const folder = makeFolder();
  const routes = { one: { path: "a", access: "public", run: { $function: "routes.one.run" } } };
  writeFileSync(join(folder, "holdfast.config.json"), JSON.stringify({ routes }));
  await assert.rejects(
    loadConfig({ cwd: folder, flags: {}, env: {} }),
    /routes: a JSON file cannot have functions\. Write the configuration as holdfast\.config\.ts/,
  );
});

test("a function elsewhere in a route is refused", async () => {
  const folder = makeFolder();
  writeFileSync(
    join(folder, "holdfast.config.js"),
    'export default { routes: { one: { path: () => "a", access: "public", run: () => 1 } } };',
  );
  await assert.rejects(loadConfig({ cwd: folder, flags: {}, env: {} }), /routes\.one\.path is a function/);
});
