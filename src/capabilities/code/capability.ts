/** Code: functions of the configuration that take part in writes. */
import { extname } from "node:path";
import { define, type RestOfConfiguration, type Surroundings } from "../../capability.ts";
import { didYouMean } from "../../collection/messages.ts";
import { formatPath } from "../../collection/paths.ts";
import type { Relation } from "../../collection/relations.ts";
import { StartFaults } from "../../errors/start-faults.ts";
import { StartError } from "../../errors.ts";
import { option } from "../../option.ts";
import * as read from "../../readers.ts";
import { readDeclared, readHooks } from "./code-options.ts";
import {
  declareComputed,
  explainComputed,
  readComputed,
  requireSources,
} from "./computed/computed-options.ts";
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
  members: ["hooks", "computed"],
  functions: ["collections.*.hooks.before", "collections.*.hooks.validate", "collections.*.computed.*.value"],
  declare: declareComputed,
  explainFault: explainComputed,
  settings: (get, { file, declared, content }): CodeSettings => {
    if (file !== undefined && extname(file) === ".json") requireNone(["hooks", "computed"], declared);
    const faults = new StartFaults();
    const collections = faults.read(["collections"], () =>
      readDeclared(declared("hooks"), "hooks", readHooks),
    );
    const computed = faults.read(["collections"], () =>
      readDeclared(declared("computed"), "computed", readComputed),
    );
    faults.throwIfAny();
    return {
      hookMs: get("code.hookMs"),
      memoryMb: get("code.memoryMb"),
      collections: collections(),
      computed: computed(),
      module: file,
      functions: file === undefined ? content : undefined,
    };
  },
  check: ({ collections, computed }, rest) => {
    const faults = new StartFaults();
    for (const [name, { with: related }] of collections)
      faults.read(["collections", name, "hooks", "with"], () => requireRelations(name, related, rest));
    for (const [name, attributes] of computed)
      faults.read(["collections", name, "computed"], () => requireSources(name, attributes, rest));
    faults.throwIfAny();
  },
  forHttp: ({ collections, computed }) => ({ hooked: new Set([...collections.keys(), ...computed.keys()]) }),
  load: async () => (await import("./loaded.ts")).loaded,
});

/** Throws StartError if collections have one of these members, because a JSON file cannot have functions. */
function requireNone(members: readonly string[], declared: Surroundings["declared"]): void {
  const faults = members.flatMap((member) =>
    [...declared(member).keys()].map((name) => ({
      path: ["collections", name, member],
      text: `collections.${name}.${member}: a JSON file cannot have functions. Write the configuration as holdfast.config.ts: export default defineConfig({ … })`,
    })),
  );
  if (faults.length > 0) throw new StartError(faults);
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
