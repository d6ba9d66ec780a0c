import { Ajv2020 } from "ajv/dist/2020.js";
import { StartError } from "../errors.ts";
import type { Validator } from "./collection.ts";

export function compile(schema: unknown, at: string): Validator {
  const ajv = new Ajv2020({ strict: false, allErrors: true, ownProperties: true, validateFormats: false });
  try {
    const validate = ajv.compile(JSON.parse(JSON.stringify(schema)));
    return (attributes) =>
      validate(attributes)
        ? []
        : (validate.errors ?? []).slice(0, 50).map((error) => ({
            in: "body",
            pointer: `#${error.instancePath}`,
            code: error.keyword,
            detail: error.message ?? "",
          }));
  } catch (error) {
    throw new StartError(`${at}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
