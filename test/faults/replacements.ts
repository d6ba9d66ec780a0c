/** Faults as changes of the sources: texts, and what replaces them. */
import { globSync, readFileSync } from "node:fs";

/** Texts that occur exactly once in the sources, each with the text that replaces it. */
export type Replacements = readonly (readonly [text: string, replacement: string])[];

/** The texts of source files, by their paths in the project. */
export type Sources = ReadonlyMap<string, string>;

/** The sources of the service and of the packages for clients. */
export function readSources(): Sources {
  const files = globSync("{.,client,react-admin}/src/**/*.ts");
  return new Map(files.map((file) => [file, readFileSync(file, "utf8")]));
}

/** The files that change, as they become. Throws an Error if a text does not occur exactly once in all sources. */
export function replaceIn(sources: Sources, replacements: Replacements): Sources {
  const changed = new Map<string, string>();
  for (const [text, replacement] of replacements) {
    const current = new Map([...sources, ...changed]);
    const found = [...current].filter(([, content]) => content.includes(text));
    const [[file = "", content = ""] = [], ...others] = found;
    const [before = "", after, ...more] = content.split(text);
    if (after === undefined || others.length > 0 || more.length > 0) {
      const files = found.map(([name]) => name).join(", ");
      throw new Error(
        `This text must occur exactly once in the sources, but ${files === "" ? "it does not occur" : `it occurs several times (${files})`}: ${text}`,
      );
    }
    changed.set(file, before + replacement + after);
  }
  return changed;
}
