/** The effective configuration, for administrators. */
import type { Document } from "../operations/result.ts";
import { jsonType } from "../protocol/message.ts";
import type { Service } from "../service.ts";

/** The configuration file, and each option with its value and the place that it comes from. It contains no secrets. */
export function configurationDocument({ configuration: { file, options } }: Service): Document {
  return { status: 200, type: jsonType, body: JSON.stringify({ file: file ?? null, options }) };
}
