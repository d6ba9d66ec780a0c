/** The functions of the module that `code.file` names. */
import { StartError } from "../../errors.ts";
import type { CodeSettings } from "./settings.ts";
import { functionAt, loadModule } from "./user-functions.ts";

/** The place of each function in a configuration, such as `jobs.digest.run`. */
export function placesOf({
  collections,
  computed,
  consumers,
  routes,
  jobs,
}: Pick<CodeSettings, "collections" | "computed" | "consumers" | "routes" | "jobs">): string[] {
  const hooks = [...collections].flatMap(([name, { hasBefore, hasValidate }]) => [
    ...(hasBefore ? [`collections.${name}.hooks.before`] : []),
    ...(hasValidate ? [`collections.${name}.hooks.validate`] : []),
  ]);
  const values = [...computed].flatMap(([name, attributes]) =>
    [...attributes.keys()].map((attribute) => `collections.${name}.computed.${attribute}.value`),
  );
  return [
    ...hooks,
    ...values,
    ...consumers.map(({ place }) => place),
    ...[...routes.keys()].map((name) => `routes.${name}.run`),
    ...[...jobs.keys()].map((name) => `jobs.${name}.run`),
  ];
}

/** Throws StartError unless the module has a function at each of these places. */
export async function requireFunctionsIn(module: string, places: readonly string[]): Promise<void> {
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
  const missing = places.find((place) => !has(place));
  if (missing !== undefined)
    throw fault(
      `${module} has no function at ${missing}. The default export of the file must have the same functions as the configuration.`,
    );
}

function fault(text: string): StartError {
  return new StartError([{ path: ["code", "file"], text: `code.file: ${text}` }]);
}
