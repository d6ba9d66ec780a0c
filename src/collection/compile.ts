/** A declared schema becomes a validator. Loaded only when there is a schema, since Ajv takes its time to load. */
import type { Ajv2020, ErrorObject } from "ajv/dist/2020.js";
import { StartError } from "../errors.ts";
import { closeSchema } from "./closing.ts";
import { detailOf } from "./details.ts";
import { createEngine } from "./engine.ts";
import type { Schema } from "./keywords.ts";
import { createPatterns } from "./patterns.ts";
import type { Validator } from "./resource.ts";
import { checkSchema } from "./schema-check.ts";
import { toViolations } from "./violations.ts";

/** What looking for every violation may cost: about one for each value, and for each 100 characters. */
const maxWork = 10_000;

/** A validator for a schema. Throws StartError with the place below `at`. */
export function compile(schema: unknown, at: string): Validator {
  const compilePattern = createPatterns();
  const { root, resolve } = checkSchema(schema, at, compilePattern);
  const engine = createEngine({ compilePattern });
  requireMetaSchema(engine, root, at);
  const known = closeSchema(root, resolve);
  const isFit = compileChecked(engine, root, at);
  let findAll: typeof isFit | undefined;
  return (attributes) => {
    if (isFit(attributes)) return [];
    // Finding every error goes through all of the content: 1 MiB of bad items would take a tenth of a second.
    if (workLeft(attributes, maxWork) < 0) return toViolations(isFit.errors ?? [], known);
    findAll ??= compileChecked(createEngine({ compilePattern, allErrors: true }), root, at);
    findAll(attributes);
    return toViolations(findAll.errors ?? [], known);
  };
}

function requireMetaSchema(engine: Ajv2020, schema: Schema, at: string): void {
  if (engine.validateSchema(schema) === true) return;
  const error = (engine.errors as ErrorObject[] | null)?.find(({ keyword }) => keyword !== "anyOf");
  if (error === undefined) throw new StartError(`${at}: the schema is not valid.`);
  const place = error.instancePath === "" ? "" : ` at ${error.instancePath.slice(1)}`;
  throw new StartError(`${at}${place}: the value ${detailOf(error)}.`);
}

function compileChecked(engine: Ajv2020, schema: Schema, at: string): ReturnType<Ajv2020["compile"]> {
  try {
    return engine.compile(schema);
  } catch (error) {
    throw new StartError(`${at}: ${(error as Error).message}`);
  }
}

/** What is left of some work after a value; below zero as soon as it is not enough. */
function workLeft(value: unknown, work: number): number {
  if (typeof value === "string") return work - 1 - value.length / 100;
  if (typeof value !== "object" || value === null) return work - 1;
  let left = work - 1;
  for (const inner of Object.values(value)) {
    left = workLeft(inner, left);
    if (left < 0) return left;
  }
  return left;
}
