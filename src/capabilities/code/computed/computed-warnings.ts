/** Warnings about computed attributes that are valid, and perhaps an error. */
import type { Collection } from "../../../collection/collection.ts";
import type { ComputedAttributes } from "../settings.ts";

/** A sentence for each computed attribute that shows something of an attribute to callers who cannot see that one. */
export function warningsAboutComputed(
  computed: ReadonlyMap<string, ComputedAttributes>,
  collections: ReadonlyMap<string, Collection>,
): string[] {
  return [...computed].flatMap(([name, attributes]) => {
    const collection = collections.get(name);
    if (collection === undefined) return [];
    return [...attributes].flatMap(([attribute, { from }]) =>
      from
        .filter((source) => isSeenByMore(collection, attribute, source))
        .map(
          (source) =>
            `collections.${name}.computed.${attribute} is computed from "${source}", which fewer callers can see. Its value can reveal something about "${source}".`,
        ),
    );
  });
}

function isSeenByMore({ attributeRules }: Collection, attribute: string, source: string): boolean {
  const ruleOf = (name: string) => attributeRules.find((rule) => rule.name === name);
  const [own, of] = [ruleOf(attribute), ruleOf(source)];
  if (own?.writeOnly === true || of === undefined) return false;
  if (of.writeOnly) return true;
  if (of.roles === undefined) return false;
  return own?.roles?.every((role) => of.roles?.includes(role)) !== true;
}
