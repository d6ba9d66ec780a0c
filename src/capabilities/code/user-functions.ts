/** Finds the functions of a configuration, in the module that has them or in the configuration of an application. */
import { importUserModule } from "../../user-module.ts";

/** A function of the user. */
export type UserFunction = (...args: never[]) => unknown;

/** The default export of a module. Throws what the module throws. */
export async function loadModule(path: string): Promise<unknown> {
  return (await importUserModule(path)).default;
}

/** The function at a place of a configuration, such as `jobs.digest.run`. Throws an Error if the place has no function. */
export function functionAt(configuration: unknown, place: string): UserFunction {
  let value: unknown = configuration;
  for (const name of place.split("."))
    value =
      typeof value === "object" && value !== null && Object.hasOwn(value, name)
        ? (value as Record<string, unknown>)[name]
        : undefined;
  if (typeof value === "function") return value as UserFunction;
  throw new Error(
    `${place} is not a function in this thread. A configuration must be the same each time that it is imported.`,
  );
}
