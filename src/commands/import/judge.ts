/** What becomes of one text of the input: a resource for the store, or a reason why not. */
import type { Collection } from "../../collection/collection.ts";
import { withDefaults } from "../../collection/defaults.ts";
import { fitId } from "../../collection/ids.ts";
import { resourceText } from "../../collection/resource.ts";
import { clientAttributes, timeFaults, withOwnTimes } from "../../collection/timestamps.ts";
import { Problem } from "../../errors.ts";
import { describeViolations } from "../../fit/misfits.ts";
import { wholeText } from "../../json/explain.ts";
import { parseJson, requireObject } from "../../json/gate.ts";
import type { JsonLimits } from "../../json/limits.ts";
import { excerpt } from "../words.ts";
import type { Piece } from "./pieces.ts";

/** A text that may be imported. */
export interface Sound {
  /** The id that it keeps; `undefined` when it needs a new one. */
  id: string | undefined;
  /** The id that it came with and cannot keep, as JSON. */
  unfitId: string | undefined;
  /** Whether the id came as a number. */
  isIdNumber: boolean;
  /** The resource's text once it has its id. */
  textFor(id: string): string;
}

/** What texts are judged by. */
export interface Standard {
  collection: Collection;
  limits: JsonLimits;
  /** The time of the import: Unix time in milliseconds. */
  at: number;
}

/** Reads and checks one text as a create's content would be. Gives the reason when it may not be imported. */
export function judge(text: Text, { collection, limits, at }: Standard): Sound | string {
  const value = readObject(text, limits);
  if (typeof value === "string") return value;
  const attributes = withDefaults(clientAttributes(collection, value), collection.defaults, { at });
  const violations = [...timeFaults(collection, value, at), ...collection.validate(attributes)];
  if (violations.length > 0) return describeViolations(violations);
  const all = collection.timestamps ? withOwnTimes(attributes, value, at) : attributes;
  const id = fitId(collection.idKind, value.id);
  return {
    id,
    unfitId: id === undefined && Object.hasOwn(value, "id") ? excerpt(value.id) : undefined,
    isIdNumber: typeof value.id === "number",
    textFor: (fit) => resourceText(collection.idKind, fit, all),
  };
}

type Text = Extract<Piece, { kind: "text" }>;

function readObject({ bytes, isMade }: Text, limits: JsonLimits): Record<string, unknown> | string {
  try {
    return requireObject(parseJson(bytes, limits));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const message = error.message.replace(wholeText, "The resource");
    if (isMade === true) return withoutPlace(message);
    return bytes.includes(lineBreak) ? message : withoutLine(message);
  }
}

const lineBreak = 0x0a;

/** The report names the line of the input; "line 1" of a text of one line would only confuse. */
function withoutLine(message: string): string {
  return message.replace(/\bline 1, (column \d+)/, "$1");
}

function withoutPlace(message: string): string {
  return message.replace(/ \((?:line \d+, )?column \d+\)/, "");
}
