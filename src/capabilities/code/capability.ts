/** Code: the functions of the configuration, which are hooks, computed attributes, routes, consumers and jobs. */
import { extname, resolve } from "node:path";
import { define, type RestOfConfiguration, type Surroundings } from "../../capability.ts";
import { didYouMean } from "../../collection/messages.ts";
import { formatPath } from "../../collection/paths.ts";
import type { Relation } from "../../collection/relations.ts";
import { StartFaults } from "../../errors/start-faults.ts";
import { StartError } from "../../errors.ts";
import { isObject } from "../../json/values.ts";
import { option, optional, type Reader } from "../../option.ts";
import * as read from "../../readers.ts";
import { moduleFile, readDeclared, readHooks } from "./code-options.ts";
import {
  declareComputed,
  explainComputed,
  readComputed,
  requireSources,
} from "./computed/computed-options.ts";
import { checkConsumers, readConsumers } from "./consumers/consumer-options.ts";
import { givenJobs, readJobs, shownJobs } from "./jobs/job-options.ts";
import type { Route } from "./routes/route.ts";
import { type RouteSettings, readRoutes } from "./routes/route-options.ts";
import type { CodeSettings } from "./settings.ts";

/** Routes, by name. */
const routesOption: Reader<ReadonlyMap<string, RouteSettings>, Readonly<Record<string, Route>>> = readRoutes;

export const code = define({
  name: "code",
  options: {
    "code.hookMs": option({
      fallback: 50,
      about: "how long one call of a hook can take, in milliseconds of processor time",
      read: read.wholeNumber(1, 1_000),
    }),
    "code.file": optional({
      about:
        "in an application: the module whose functions run in workers. Its default export is the configuration",
      read: moduleFile,
    }),
    "code.threads": option({
      fallback: 1,
      about: "how many threads run routes, consumers and jobs, beside each thread of the service",
      read: read.wholeNumber(1, 4),
    }),
    "code.memoryMb": option({
      fallback: 128,
      about: "how much memory the code of the configuration can use in each of its threads, in MiB",
      read: read.wholeNumber(16, 4_096),
    }),
    routes: optional({
      about:
        "paths whose requests functions of the configuration answer: an object with a route for each name",
      show: (routes) => routes && shownRoutes(routes),
      read: routesOption,
    }),
    jobs: option({
      fallback: {},
      shownDefault: "none",
      about: "code that runs at certain times: an object with a job for each name",
      show: shownJobs,
      read: givenJobs,
    }),
  },
  members: ["hooks", "computed", "after"],
  functions: [
    "collections.*.hooks.before",
    "collections.*.hooks.validate",
    "collections.*.computed.*.value",
    "collections.*.after.*.run",
    "routes.*.run",
    "jobs.*.run",
  ],
  declare: declareComputed,
  explainFault: explainComputed,
  settings: (get, { file, cwd, declared, content }): CodeSettings => {
    const own = get("code.file");
    if (file !== undefined && extname(file) === ".json") {
      requireNone(["hooks", "computed", "after"], declared);
      requireNoJobs(get("jobs"));
    }
    const faults = new StartFaults();
    faults.read([], () => {
      if (own !== undefined && file !== undefined) throw new StartError(onlyInApplications);
    });
    const collections = faults.read(["collections"], () =>
      readDeclared(declared("hooks"), "hooks", readHooks),
    );
    const computed = faults.read(["collections"], () =>
      readDeclared(declared("computed"), "computed", readComputed),
    );
    const consumers = faults.read(["collections"], () => readConsumers(declared("after")));
    const jobs = faults.read(["jobs"], () => readJobs(get("jobs")));
    faults.throwIfAny();
    const routes = get("routes") ?? new Map<string, RouteSettings>();
    if (routes.size > 0) requireUsableRoutes(routes, { file, content });
    return {
      hookMs: get("code.hookMs"),
      memoryMb: get("code.memoryMb"),
      threads: get("code.threads"),
      collections: collections(),
      computed: computed(),
      consumers: consumers(),
      routes,
      jobs: jobs(),
      module: own === undefined ? file : resolve(cwd, own),
      functions: file === undefined ? content : undefined,
    };
  },
  check: ({ collections, computed, consumers, routes }, rest) => {
    const faults = new StartFaults();
    for (const route of routes.values())
      faults.read(["routes", route.name, "path"], () => requireFreePath(route, rest));
    for (const [name, { with: related }] of collections)
      faults.read(["collections", name, "hooks", "with"], () => requireRelations(name, related, rest));
    for (const [name, attributes] of computed)
      faults.read(["collections", name, "computed"], () => requireSources(name, attributes, rest));
    faults.read([], () => checkConsumers(consumers, rest));
    faults.throwIfAny();
  },
  forHttp: ({ collections, computed }) => ({ hooked: new Set([...collections.keys(), ...computed.keys()]) }),
  // In a test, all functions run in its thread.
  forTests: (content) => {
    if (!isObject(content.code)) return content;
    const { file: _, ...options } = content.code;
    return { ...content, code: options };
  },
  load: async () => (await import("./loaded.ts")).loaded,
});

const onlyInApplications = [
  {
    path: ["code", "file"],
    text: "code.file is only for an application that embeds the service. This service imports its own configuration file. Remove code.file.",
  },
];

/** Throws StartError if collections have one of these members, because a JSON file cannot have functions. */
function requireNone(members: readonly string[], declared: Surroundings["declared"]): void {
  const faults = members.flatMap((member) =>
    [...declared(member).keys()].map((name) => ({
      path: ["collections", name, member],
      text: `collections.${name}.${member}: ${notInJson}`,
    })),
  );
  if (faults.length > 0) throw new StartError(faults);
}

const notInJson =
  "a JSON file cannot have functions. Write the configuration as holdfast.config.ts: export default defineConfig({ … })";

/** Throws StartError with each job: a JSON file cannot have any. */
function requireNoJobs(jobs: object): void {
  const faults = Object.keys(jobs).map((name) => ({
    path: ["jobs", name],
    text: `jobs.${name}: ${notInJson}`,
  }));
  if (faults.length > 0) throw new StartError(faults);
}

/** The routes as administrators see them. */
function shownRoutes(routes: ReadonlyMap<string, RouteSettings>): object {
  return Object.fromEntries(
    [...routes.values()].map(({ name, method, path }) => [name, `${method} ${path}`]),
  );
}

/** Throws StartError if the configuration cannot have routes, or callers of which they are for. */
function requireUsableRoutes(
  routes: ReadonlyMap<string, RouteSettings>,
  { file, content }: { file: string | undefined; content: object },
): void {
  if (file !== undefined && extname(file) === ".json")
    throw new StartError([{ path: ["routes"], text: `routes: ${notInJson}` }]);
  if (Object.hasOwn(content, "auth")) return;
  const faults = [...routes.values()].filter(({ access }) => access !== "public");
  if (faults.length === 0) return;
  throw new StartError(
    faults.map(({ name }) => ({
      path: ["routes", name, "access"],
      text: `routes.${name}.access: this needs "auth". Without it, the service does not identify callers. Add "auth", or write "public".`,
    })),
  );
}

/** Throws StartError if a collection, or the service itself, has the path of a route. */
function requireFreePath({ name, path }: RouteSettings, { collections, prefix }: RestOfConfiguration): void {
  const [, first = ""] = path.split("/");
  if (prefix === "" && read.ownRootNames.includes(first))
    throw new StartError(
      `routes.${name}.path: the service uses /${first} itself. Choose another first segment, or a prefix other than "/".`,
    );
  if (!collections.has(first)) return;
  throw new StartError(
    `routes.${name}.path: "${first}" is a collection, whose paths begin with it. Choose another first segment.`,
  );
}

/** Throws StartError unless each name is a relation to one resource. */
function requireRelations(
  name: string,
  names: readonly string[],
  { collections }: RestOfConfiguration,
): void {
  const relations = collections.get(name)?.relations ?? new Map<string, Relation>();
  const single = [...relations.values()].filter(({ kind, isList }) => kind === "reference" && !isList);
  const known = single.map((each) => each.name);
  const adviceFor = (each: string) => {
    const relation = relations.get(each);
    if (relation?.kind === "reference")
      return ` By the schema, ${formatPath(relation.path)} can contain several ids: give it the type "string" or "integer".`;
    const unnamed = collections
      .get(name)
      ?.unnamed.find((one) => one.kind === "reference" && one.name === each);
    if (unnamed !== undefined)
      return ` The relation has no name: declare references: { "${formatPath(unnamed.path)}": { "collection": "${unnamed.collection}", "as": "${each}" } }.`;
    if (known.length > 0) return didYouMean(each, known) || ` Known names: ${known.join(", ")}.`;
    return " The collection has no such relation: declare it in references.";
  };
  for (const each of names) {
    if (known.includes(each)) continue;
    const advice = adviceFor(each);
    throw new StartError(
      `collections.${name}.hooks.with: ${JSON.stringify(each)} is not a relation to a single resource.${advice}`,
    );
  }
}
