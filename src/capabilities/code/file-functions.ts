/** The functions of the module that `code.file` names. */
import { StartError } from "../../errors.ts";
import { requireSynchronous } from "./code-options.ts";
import type { CodeSettings } from "./settings.ts";
import { functionAt, loadModule } from "./user-functions.ts";

type Declared = Pick<CodeSettings, "collections" | "computed" | "consumers" | "routes" | "jobs">;

/** The place of each function in a configuration, such as `jobs.digest.run`. */
export function placesOf(declared: Declared): string[] {
  const { consumers, routes, jobs } = declared;
  return [
    ...synchronousPlacesOf(declared),
    ...consumers.map(({ place }) => place),
    ...[...routes.keys()].map((name) => `routes.${name}.run`),
    ...[...jobs.keys()].map((name) => `jobs.${name}.run`),
  ];
}

/** The places of the functions that cannot wait. */
function synchronousPlacesOf({ collections, computed }: Declared): string[] {
  const hooks = [...collections].flatMap(([name, { hasBefore, hasValidate }]) => [
    ...(hasBefore ? [`collections.${name}.hooks.before`] : []),
    ...(hasValidate ? [`collections.${name}.hooks.validate`] : []),
  ]);
  const values = [...computed].flatMap(([name, attributes]) =>
    [...attributes.keys()].map((attribute) => `collections.${name}.computed.${attribute}.value`),
  );
  return [...hooks, ...values];
}

/** Throws StartError unless the module has each of the declared functions, and those that cannot wait are not `async`. */
export async function requireFunctionsIn(module: string, declared: Declared): Promise<void> {
  const content = await loadModule(module).catch((error: Error) => {
    throw fault(`${module} cannot be loaded: ${error.message}`);
  });
  const has = (place: string) => {
    try {
      return functionAt(content, place) !== undefined;
    } catch {
      return false;
    }
  };
  const missing = placesOf(declared).find((place) => !has(place));
  if (missing !== undefined)
    throw fault(
      `${module} has no function at ${missing}. The default export of the file must have the same functions as the configuration.`,
    );
  for (const place of synchronousPlacesOf(declared))
    requireSynchronous(functionAt(content, place), `code.file: ${module}: ${place}`);
}

function fault(text: string): StartError {
  return new StartError([{ path: ["code", "file"], text: `code.file: ${text}` }]);
}
