/** What a copy knows of its source before it begins. */
import { createHash } from "node:crypto";
import { type Contents, type Outline, type Section, sectionsOf } from "./whole.ts";

/** A store in short. */
export interface Survey {
  outline: Outline;
  sections: readonly { section: Section; count: number }[];
  /** The items of all sections, and how many of them are resources. */
  total: number;
  resources: number;
  /** Another one where a collection, a counter or the number of anything is not the same. */
  stamp: string;
}

/** Looks over a store. */
export async function survey(contents: Contents): Promise<Survey> {
  const outline = await contents.outline();
  const sections: { section: Section; count: number }[] = [];
  for (const section of sectionsOf(outline)) {
    const count =
      section.kind === "resources" ? countIn(outline, section.collection) : await contents.count(section);
    sections.push({ section, count });
  }
  const total = sections.reduce((sum, { count }) => sum + count, 0);
  const stamp = createHash("sha256").update(JSON.stringify({ outline, sections })).digest("base64url");
  const resources = outline.collections.reduce((sum, { count }) => sum + count, 0);
  return { outline, sections, total, resources, stamp };
}

/** The head has counted them. */
function countIn({ collections }: Outline, name: string): number {
  return collections.find((each) => each.name === name)?.count ?? 0;
}
