/** Code: functions of the configuration that take part in writes. */
import { extname } from "node:path";
import { define, type RestOfConfiguration, type Surroundings } from "../../capability.ts";
import { didYouMean } from "../../collection/messages.ts";
import { StartFaults } from "../../errors/start-faults.ts";
import { StartError } from "../../errors.ts";
import { option } from "../../option.ts";
import * as read from "../../readers.ts";
import { readDeclared, readHooks } from "./code-options.ts";
import { checkConsumers, readConsumers } from "./consumers/consumer-options.ts";
import type { CodeSettings } from "./settings.ts";

export const code = define({
  name: "code",
  options: {
    "code.hookMs": option({
      fallback: 50,
      about: "how long one call of a hook can take, in milliseconds of processor time",
      read: read.wholeNumber(1, 1_000),
    }),
    "code.memoryMb": option({
      fallback: 128,
      about: "how much memory the code of the configuration can use in each of its threads, in MiB",
      read: read.wholeNumber(16, 4_096),
    }),
  },
  members: ["hooks", "after"],
  functions: ["collections.*.hooks.before", "collections.*.hooks.validate", "collections.*.after.*.run"],
  settings: (get, { file, declared, content, isEmbedded }): CodeSettings => {
    if (file !== undefined && extname(file) === ".json") requireNoFunctions(declared);
    const faults = new StartFaults();
    const collections = faults.read(["collections"], () =>
      readDeclared(declared("hooks"), "hooks", readHooks),
    );
    const consumers = faults.read(["collections"], () => readConsumers(declared("after")));
    faults.throwIfAny();
    return {
      hookMs: get("code.hookMs"),
      memoryMb: get("code.memoryMb"),
      collections: collections(),
      consumers: consumers(),
      module: file,
      functions: file === undefined ? content : undefined,
    };
  },
  check: ({ collections, consumers }, rest) => {
    const faults = new StartFaults();
    for (const [name, { with: related }] of collections)
      faults.read(["collections", name, "hooks", "with"], () => requireRelations(name, related, rest));
    faults.read([], () => checkConsumers(consumers, rest));
    faults.throwIfAny();
  },
  forHttp: ({ collections }) => ({ hooked: new Set(collections.keys()) }),
  load: async () => (await import("./loaded.ts")).loaded,
});

/** Throws StartError if a collection in a JSON file has members that need functions. */
function requireNoFunctions(declared: Surroundings["declared"]): void {
  const faults = new StartFaults();
  for (const member of ["hooks", "after"])
    for (const name of declared(member).keys())
      faults.add(
        ["collections", name, member],
        `collections.${name}.${member}: a JSON file cannot have functions. Write the configuration as holdfast.config.ts: export default defineConfig({ … })`,
      );
  faults.throwIfAny();
}

/** Throws StartError unless each name is a relation to one resource. */
function requireRelations(
  name: string,
  names: readonly string[],
  { collections }: RestOfConfiguration,
): void {
  const relations = collections.get(name)?.relations ?? new Map();
  const single = [...relations.values()].filter(({ kind, isList }) => kind === "reference" && !isList);
  const known = single.map((each) => each.name as string);
  for (const each of names) {
    if (known.includes(each)) continue;
    const advice =
      didYouMean(each, known) ||
      (known.length > 0
        ? ` Known names: ${known.join(", ")}.`
        : " The collection has none: declare one in references.");
    throw new StartError(
      `collections.${name}.hooks.with: ${JSON.stringify(each)} is not a relation to a single resource.${advice}`,
    );
  }
}
