import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { test } from "node:test";

// A file of src/ that is not named here is a room of its own and must be added.
const order =
  "program user-module about errors secrets json counters clock collection query store records open-vault store-clock lease expiry import init rewind access changes tasks http observe option readers members command capability capabilities config fit server commands cli index testing".split(
    " ",
  );

// The files and folders of src/http/, from the ground up. `handle.ts` calls the steps of a request, and `wire/` calls `handle.ts`.
const orderOfHttp =
  "after settings admission protocol participant service problem route caller operations related lists reads events respond writes many openapi endpoint describe documents endpoints handle wire inside".split(
    " ",
  );

// The files and folders of src/store/, from the ground up. The two kinds of stores, SQLite and PostgreSQL, never import each other.
const orderOfStore = "port sql core sqlite postgres address open".split(" ");

const scriptsBelow = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => /\.tsx?$/.test(file));

const files = scriptsBelow("src");

const roomOf = (file: string) => file.split("/")[0]?.replace(/\.ts$/, "") ?? "";

const importsOf = (file: string, folder = "src") =>
  [...readFileSync(`${folder}/${file}`, "utf8").matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map(
    ([, path]) => posix.join(posix.dirname(file), path as string),
  );

test("a room imports only from itself and from the rooms before it", () => {
  const backwards = files.flatMap((file) =>
    importsOf(file)
      .filter((target) => order.indexOf(roomOf(target)) > order.indexOf(roomOf(file)))
      .map((target) => `${file} imports ${target}`),
  );
  assert.deepEqual(backwards, []);
});

for (const [room, orderOfRoom] of Object.entries({ store: orderOfStore, http: orderOfHttp }))
  test(`a file or folder of src/${room}/ imports only from itself and from those before it`, () => {
    const levelOf = (file: string) => orderOfRoom.indexOf(roomOf(file.slice(`${room}/`.length)));
    const own = files.filter((file) => file.startsWith(`${room}/`));
    requireNone(
      own.filter((file) => levelOf(file) === -1),
      "Add the file or folder to the order, after everything that it imports.",
    );
    requireNone(
      own.flatMap((file) =>
        importsOf(file)
          .filter((target) => target.startsWith(`${room}/`) && levelOf(target) > levelOf(file))
          .map((target) => `${file} imports ${target}`),
      ),
      "Move what both files need into the earlier one, or pass it as an argument.",
    );
  });

function requireNone(found: readonly string[], advice: string): void {
  assert.ok(found.length === 0, [...found, advice].join("\n"));
}

test("every file of src/ belongs to a known room", () => {
  assert.ok(files.length > 20);
  assert.deepEqual(
    files.filter((file) => !order.includes(roomOf(file))),
    [],
  );
});

const capabilities = readdirSync("src/capabilities", { withFileTypes: true })
  .filter((each) => each.isDirectory())
  .map(({ name }) => name);

/** The capability of a file; `undefined` for a file of the core. */
const capabilityOf = (file: string) => /^capabilities\/([^/]+)\//.exec(file)?.[1];

test("only the lists of all capabilities import from one, and only its face and its public interface", () => {
  const importing = files.flatMap((file) =>
    importsOf(file)
      .filter((target) => ![undefined, capabilityOf(file)].includes(capabilityOf(target)))
      .map((target) => `${file} imports ${target}`),
  );
  assert.deepEqual(
    [...new Set(importing)].sort(),
    [
      ...capabilities.map((name) => `capabilities/all.ts imports capabilities/${name}/capability.ts`),
      "capabilities/public.ts imports capabilities/code/public.ts",
    ].sort(),
  );
});

/**
 * The words for each capability that the core does not say, and how often each file says them all the same: in contracts that users know,
 * and in sentences about the whole service. These numbers only fall.
 */
const words: Readonly<Record<string, RegExp>> = {
  code: /CODE_FAILED|hookMs/gi,
  tokens: /jwt|jwks|json web token/gi,
  users: /auth\.users|\.users\b|sign-?(?:in|up)|passkey|invitation|second-?factor|\bmails?\b/gi,
  webhooks: /webhook/gi,
};
const wordsInTheCore: Readonly<Record<string, number>> = {
  "collection/ids.ts": 1, // a reserved id
  "command.ts": 1, // help of --token
  "commands/asvs.ts": 7, // what requirements ask for, and the options that meet them
  "commands/check-command.ts": 2, // --asvs is about services with users
  "commands/command-table.ts": 2, // help of restore and secret
  "commands/serve-command.ts": 1, // the link for the first administrator
  "config/derived-settings.ts": 1, // a sentence about all credentials
  "errors.ts": 4, // CODE_FAILED, WEBHOOKS_UNAVAILABLE, SECOND_FACTOR_REQUIRED
  "http/describe/document.ts": 2, // which credentials there are
  "http/documents/console.ts": 1, // the files of one of its pages
  "index.ts": 3, // JwtOptions, UserOptions
  "observe/families.ts": 1, // help of holdfast_metrics_source_up
  "readers.ts": 1, // a path that no prefix can have
  "server.ts": 1, // what a stop waits for
  "server/plugin.ts": 1, // a warning that names the option
  "tasks/task-loop.ts": 1, // CODE_FAILED
  "store/port/options.ts": 1, // what a service without history lacks
  "testing.ts": 1, // the mails of a service for tests
};

test("the core does not say the name of a capability", () => {
  assert.deepEqual(Object.keys(words).sort(), capabilities.toSorted());
  const core = files.filter((file) => capabilityOf(file) === undefined && file !== "capabilities/all.ts");
  const counted = core.flatMap((file) => {
    const text = readFileSync(`src/${file}`, "utf8").replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
    const count = Object.values(words).reduce((sum, word) => sum + [...text.matchAll(word)].length, 0);
    return count === 0 ? [] : [[file, count]];
  });
  assert.deepEqual(Object.fromEntries(counted), wordsInTheCore);
});

test("the face of a capability loads nothing of it but checks of options and rows of commands", () => {
  const isLight = (file: string) =>
    /\/(?:acting|addresses|capability|command-rows|jwt-option|key-set|mail-address|stand-in-keys|mail-(?:options|settings)|(?:code|computed|consumer|job|user|provider|route)-options|schedule|user-settings)\.ts$/.test(
      file,
    );
  const loading = capabilities.flatMap((name) => {
    const seen = new Set<string>();
    const visit = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      for (const target of loadedBy(file, "src")) if (capabilityOf(target) === name) visit(target);
    };
    visit(`capabilities/${name}/capability.ts`);
    return [...seen].filter((file) => !isLight(file));
  });
  requireNone(loading, "Import only types of it, or import it where it is needed: await import().");
});

// The folders of console/src/. Files beside them can import from each, and each from them.
const orderOfConsole = "sign-in service parts resource list administration shell".split(" ");

test("a folder of the console imports only from itself and from those before it", () => {
  const own = scriptsBelow("console/src").filter((file) => file.includes("/"));
  const levelOf = (file: string) => orderOfConsole.indexOf(roomOf(file));
  assert.ok(own.length > 50);
  requireNone(
    own.filter((file) => levelOf(file) === -1),
    "Add the folder to orderOfConsole, after everything that it imports.",
  );
  const backwards = own.flatMap((file) =>
    importsOf(file, "console/src")
      .filter((target) => levelOf(target) > levelOf(file))
      .map((target) => `${file} imports ${target}`),
  );
  requireNone(backwards, "Move what both folders need into the earlier one.");
});

/** The files that a file loads: those from which it imports more than types, except on demand. */
const loadedBy = (file: string, folder: string) =>
  [
    ...readFileSync(`${folder}/${file}`, "utf8").matchAll(
      /^(?:import|export) (?!type )([^;]*?)from "(\.[^"]+)";/gm,
    ),
  ]
    .filter(([, names = ""]) => !/^\{(?:\s*type [^,}]+,?)*\s*\} $/.test(names))
    .map(([, , path]) => posix.join(posix.dirname(file), path as string))
    .filter((path) => /\.tsx?$/.test(path));

for (const folder of ["src", "client/src", "console/src"])
  test(`no file of ${folder}/ loads itself through others`, () => {
    const finished = new Set<string>();
    const circles: string[] = [];
    const visit = (file: string, path: readonly string[]) => {
      const start = path.indexOf(file);
      if (start >= 0) circles.push([...path.slice(start), file].join(" loads "));
      if (start >= 0 || finished.has(file)) return;
      for (const target of loadedBy(file, folder)) visit(target, [...path, file]);
      finished.add(file);
    };
    for (const file of scriptsBelow(folder)) visit(file, []);
    assert.ok(finished.size > 20);
    requireNone(circles, "Move what both files need into one of them, or into a third one.");
  });

test("the contributor's order of the console is the one that it is held to", () => {
  const [, order = ""] = / {4}(sign-in < .+)/.exec(readFileSync("CONTRIBUTING.md", "utf8")) ?? [];
  assert.deepEqual(order.split(" < "), orderOfConsole);
});

test("the code for people who sign in is loaded only on demand", () => {
  // These have the rows of tables, and the constants and checks of options.
  const ofTables =
    /\/(?:capability|command-rows|loaded|metrics|mail-address|mail-(?:options|settings)|(?:user|provider)-options|user-settings)\.ts$|\/endpoints\//;
  const isTheirs = (file: string) =>
    ["secrets.ts", "open-vault.ts"].includes(file) ||
    (file.startsWith("capabilities/users/") && !ofTables.test(file));
  const loading = files.flatMap((file) =>
    isTheirs(file)
      ? []
      : loadedBy(file, "src").flatMap((path) => (isTheirs(path) ? [`${file} loads ${path}`] : [])),
  );
  requireNone(loading, "Import only types of it, or import it where it is needed: await import().");
});

test("what is written is checked in one place", () => {
  const checking = files.filter((file) => /collection\.validate\(/.test(readFileSync(`src/${file}`, "utf8")));
  // The last two check what is stored already, and an example of a document.
  assert.deepEqual(checking.sort(), ["collection/proposal.ts", "fit.ts", "http/openapi/examples.ts"]);
});

test("a function that takes some members of the service names the parts that they belong to", () => {
  const taking = files.filter((file) => /\}: Service\b/.test(readFileSync(`src/${file}`, "utf8")));
  requireNone(taking, "Name the parts in src/http/service.ts instead of Service, such as { store }: Data.");
});

test("only the store knows the form of a place in a change log", () => {
  const knowing = files.filter(
    (file) =>
      !file.startsWith("store/") &&
      /\b(?:toPlace|toNumber)\b|\bas (?:unknown as )?LogPlace\b/.test(readFileSync(`src/${file}`, "utf8")),
  );
  requireNone(knowing, "Use or add an operation of src/store/port/log-place.ts.");
});

test("only one file knows Fastify", () => {
  const knowing = files.filter((file) =>
    /(?:from|import)\s*\(?\s*"fastify["/]/.test(readFileSync(`src/${file}`, "utf8")),
  );
  assert.deepEqual(knowing, ["http/wire/mount.ts"]);
});

test("only one file knows the client of Prometheus", () => {
  const knowing = files.filter((file) => /"prom-client"/.test(readFileSync(`src/${file}`, "utf8")));
  assert.deepEqual(knowing, ["observe/exposition.ts"]);
});

test("only the files of traces know OpenTelemetry, and they are loaded only on demand", () => {
  const knowing = files.filter((file) => /"@opentelemetry\//.test(readFileSync(`src/${file}`, "utf8")));
  assert.deepEqual(knowing.sort(), [
    "capabilities/code/code-spans.ts",
    "capabilities/webhooks/delivery-spans.ts",
    "observe/origins.ts",
    "observe/request-spans.ts",
    "observe/store-spans.ts",
    "observe/tracing.ts",
  ]);
  const loading = files.filter((file) =>
    [...readFileSync(`src/${file}`, "utf8").matchAll(/^import (?!type )[^;]*? from "(\.[^"]+)";/gm)].some(
      ([, path]) => knowing.includes(posix.join(posix.dirname(file), path as string)),
    ),
  );
  assert.deepEqual(loading, ["observe/tracing.ts"]);
});

test("no file imports node:http, which would load Node's WebSocket client at each start", () => {
  const importing = files.filter((file) =>
    /^import (?!type ).*"(?:node:)?https?"/m.test(readFileSync(`src/${file}`, "utf8")),
  );
  requireNone(importing, "Take what the file needs from src/http/protocol/node-http.ts.");
});

test("only the store's open.ts knows engines by name", () => {
  const engineOf = (file: string) => /^store\/(sqlite|postgres)\//.exec(file)?.[1];
  const knowing = files.flatMap((file) =>
    importsOf(file)
      .filter((target) => engineOf(target) !== undefined && engineOf(target) !== engineOf(file))
      .map((target) => `${file} imports ${target}`),
  );
  assert.deepEqual(knowing.sort(), [
    "store/open.ts imports store/postgres/engine.ts",
    "store/open.ts imports store/sqlite/engine.ts",
  ]);
});
