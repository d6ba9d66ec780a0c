/** Compiles a declared schema to a validator. Loads Ajv, which is slow, so import it only if a schema exists. */
import type { Ajv2020, ErrorObject } from "ajv/dist/2020.js";
import { StartError } from "../errors.ts";
import { parsePointer } from "../json/pointer.ts";
import { closeSchema } from "./closing.ts";
import { createPatterns } from "./patterns.ts";
import { setPatterns } from "./possible.ts";
import type { Validator } from "./resource.ts";
import { checkSchema, type Refuse } from "./schema-check.ts";
import { createEngine } from "./schema-engine.ts";
import { detailOf, toViolations } from "./schema-violations.ts";
import type { Schema } from "./subschemas.ts";

/** The largest cost of a search for all violations: 1 for each value, and 1 for each 100 characters of its text and of its path. */
const maxWork = 10_000;

setPatterns(createPatterns());

/** The options of `compile`. */
export interface CompileOptions {
  /**
   * Whether the schema is a constant of the program. A test compares it with the meta-schema, because the compilation of the
   * meta-schema takes as long as hundreds of requests. @default false
   */
  isConstant?: boolean;
}

/** A validator for a schema. Throws StartError with places below `at`. */
export function compile(schema: unknown, at: string, { isConstant = false }: CompileOptions = {}): Validator {
  const compilePattern = createPatterns();
  const { root, resolve } = checkSchema(schema, {
    at,
    compilePattern,
    checkMetaSchema: isConstant ? () => {} : checkMetaSchema,
  });
  const engine = createEngine({ compilePattern });
  const known = closeSchema(root, resolve);
  const validate = compileChecked(engine, root, at);
  let findAll: typeof validate | undefined;
  return (attributes) => {
    if (validate(attributes)) return [];
    // A search for all errors reads the whole body: 1 MiB of invalid items would take 100 ms.
    if (workLeft(attributes, maxWork) < 0) return toViolations(validate.errors ?? [], known);
    findAll ??= compileChecked(createEngine({ compilePattern, allErrors: true }), root, at);
    findAll(attributes);
    return toViolations(findAll.errors ?? [], known);
  };
}

/** One engine for all schemas, because it is slow to compile the meta-schema. */
let metaEngine: Ajv2020 | undefined;

/**
 * Refuses each place that the meta-schema refuses, once, although Ajv reports most of them several times. `checkSchema`
 * checks the dialect and the patterns.
 */
function checkMetaSchema({ $schema: _, ...schema }: Schema, refuse: Refuse): void {
  metaEngine ??= createEngine({ compilePattern: createPatterns(), allErrors: true, checkFormats: false });
  const engine = metaEngine;
  if (engine.validateSchema(schema) === true) return;
  const reported: string[] = [];
  for (const error of (engine.errors as ErrorObject[]).filter(({ keyword }) => keyword !== "anyOf")) {
    const place = error.instancePath;
    if (reported.some((each) => `${place}/`.startsWith(`${each}/`) || `${each}/`.startsWith(`${place}/`)))
      continue;
    reported.push(place);
    refuse(parsePointer(place) ?? [], `the value ${detailOf(error)}.`);
  }
}

function compileChecked(engine: Ajv2020, schema: Schema, at: string): ReturnType<Ajv2020["compile"]> {
  try {
    return engine.compile(schema);
  } catch (error) {
    throw new StartError(`${at}: ${(error as Error).message}`);
  }
}

/** Subtracts the cost of a value from `work`. Stops as soon as the result is below zero. `path`: the length of its path. */
function workLeft(value: unknown, work: number, path = 0): number {
  let left = work - 1 - path / 100;
  if (typeof value === "string") return left - value.length / 100;
  if (typeof value !== "object" || value === null) return left;
  for (const [name, inner] of Object.entries(value)) {
    left = workLeft(inner, left, path + name.length);
    if (left < 0) return left;
  }
  return left;
}
