/** Whether what makes lists quick names attributes that can be there: a misspelled one would be ignored. */
import { StartError } from "../errors.ts";
import { attributeFacts, type Describing } from "./attributes.ts";
import { didYouMean } from "./nearest.ts";
import { formatPath, type Path } from "./paths.ts";

/** Throws StartError if the schema does not allow the attribute. The message begins with `at`. */
export function requireAttribute(path: Path, at: string, collection: Describing): void {
  for (const depth of path.keys()) {
    const [first, ...inner] = path.slice(0, depth + 1);
    const { insteadOf } = attributeFacts(collection, [first as string, ...inner]);
    if (insteadOf === undefined) continue;
    const outside = path.slice(0, depth).map((name) => `${name}.`);
    const others = insteadOf.map((name) => outside.join("") + name);
    throw new StartError(
      `${at}: "${formatPath(path)}" is not an attribute of the schema.${didYouMean(formatPath(path), others)}`,
    );
  }
}

/** Like `requireAttribute`. Also throws StartError if the attribute cannot hold text. */
export function requireText(path: Path, at: string, collection: Describing): void {
  requireAttribute(path, at, collection);
  const { types } = attributeFacts(collection, path);
  if (types === undefined || types.has("string") || types.has("array")) return;
  const what = [...types].join(" or ");
  throw new StartError(`${at}: "${formatPath(path)}" has no words to search, because its type is ${what}.`);
}
