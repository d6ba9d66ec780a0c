/** Cuts resources down to some of their attributes. */
import { shortJson } from "../collection/messages.ts";
import { type Reading, readAttribute } from "./conditions.ts";
import type { Place } from "./faults.ts";

const maxFields = 1_000;

/** The names of attributes to keep, `id` among them; what is wrong goes to the faults. */
export function readFieldNames(names: readonly string[], place: Place, reading: Reading): readonly string[] {
  const fields = new Set(["id"]);
  if (names.length > maxFields) {
    reading.faults.add(place, "fields", `must name at most ${maxFields.toLocaleString("en")} attributes`);
    return [];
  }
  for (const name of names) {
    const attribute = readAttribute(name, place, reading);
    if (attribute === undefined) continue;
    const [top] = attribute.path;
    if (attribute.path.length === 1) fields.add(top);
    else
      reading.faults.add(
        place,
        "fields",
        `names ${shortJson(name)}, but takes only whole attributes, such as ${shortJson(top)}`,
      );
  }
  return [...fields];
}

/** A resource's JSON text with nothing in it but `id` and these attributes, in the resource's own order. */
export function pickFields(text: string, fields: ReadonlySet<string>): string {
  const resource = JSON.parse(text) as Record<string, unknown>;
  let picked = `{"id":${JSON.stringify(resource.id)}`;
  for (const [name, value] of Object.entries(resource)) {
    if (name !== "id" && fields.has(name)) picked += `,${JSON.stringify(name)}:${JSON.stringify(value)}`;
  }
  return `${picked}}`;
}
