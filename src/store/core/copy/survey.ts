/** A summary of a store, made before a copy. */
import { createHash } from "node:crypto";
import { type Contents, type Outline, type Section, sectionsOf } from "./contents.ts";

/** The outline of a store, and the numbers of its items. */
export interface Survey {
  outline: Outline;
  sections: readonly { section: Section; count: number }[];
  /** The number of items in all sections. */
  total: number;
  /** The number of resources among these items. */
  resources: number;
  /** A checksum of the outline and all counts. It changes with every collection, counter and number of items. */
  checksum: string;
}

/** Surveys a store. */
export async function survey(contents: Contents): Promise<Survey> {
  const outline = await contents.outline();
  const sections: { section: Section; count: number }[] = [];
  for (const section of sectionsOf(outline)) {
    const count =
      section.kind === "resources" ? countIn(outline, section.collection) : await contents.count(section);
    sections.push({ section, count });
  }
  const total = sections.reduce((sum, { count }) => sum + count, 0);
  const checksum = createHash("sha256").update(JSON.stringify({ outline, sections })).digest("base64url");
  const resources = outline.collections.reduce((sum, { count }) => sum + count, 0);
  return { outline, sections, total, resources, checksum };
}

/** The number of resources, from the counter of the collection. */
function countIn({ collections }: Outline, name: string): number {
  return collections.find((each) => each.name === name)?.count ?? 0;
}
