/** A declared schema becomes a validator. Loaded only when there is a schema, since Ajv takes its time to load. */
import type { Ajv2020, ErrorObject } from "ajv/dist/2020.js";
import { StartError } from "../errors.ts";
import { parsePointer } from "../json/pointer.ts";
import { closeSchema } from "./closing.ts";
import { detailOf } from "./details.ts";
import { createEngine } from "./engine.ts";
import type { Schema } from "./keywords.ts";
import { createPatterns } from "./patterns.ts";
import type { Validator } from "./resource.ts";
import { checkSchema, type Refuse } from "./schema-check.ts";
import { toViolations } from "./violations.ts";

/** What looking for every violation may cost: about one for each value, and for each 100 characters. */
const maxWork = 10_000;

/** A validator for a schema. Throws StartError with the place below `at`. */
export function compile(schema: unknown, at: string): Validator {
  const compilePattern = createPatterns();
  const { root, resolve } = checkSchema(schema, { at, compilePattern, checkMetaSchema });
  const engine = createEngine({ compilePattern });
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

/** One for all schemas, since compiling the meta-schema is slow. */
let metaEngine: Ajv2020 | undefined;

/**
 * Refuses each place that the meta-schema refuses. The meta-schema reports most places several times; each is refused once.
 * The dialect and the patterns are left to `checkSchema`.
 */
function checkMetaSchema({ $schema: _, ...schema }: Schema, refuse: Refuse): void {
  metaEngine ??= createEngine({ compilePattern: createPatterns(), allErrors: true, checkFormats: false });
  const engine = metaEngine;
  if (engine.validateSchema(schema) === true) return;
  const told: string[] = [];
  for (const error of (engine.errors as ErrorObject[]).filter(({ keyword }) => keyword !== "anyOf")) {
    const place = error.instancePath;
    if (told.some((each) => `${place}/`.startsWith(`${each}/`) || `${each}/`.startsWith(`${place}/`)))
      continue;
    told.push(place);
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
