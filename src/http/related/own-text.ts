/** The texts of resources without the attributes that related resources replace. */
import { pickMembers, textWithId, withoutId } from "../../collection/resource.ts";
import { type Embed, hiddenMember, nextMember } from "../../query/embed-request.ts";

/** A resource of an open schema can have attributes with the names of its relations. The members of the response replace them. */
export function withoutEmbeds(text: string, embeds: readonly Embed[]): string {
  const names =
    embeds.length === 0 ? [] : [...embeds.map(({ relation }) => relation.name), hiddenMember, nextMember];
  if (!names.some((name) => text.includes(`${JSON.stringify(name)}:`))) return text;
  const resource = JSON.parse(text) as Record<string, unknown>;
  return textWithId(
    JSON.stringify(resource.id),
    withoutId(pickMembers(resource, (name) => !names.includes(name))),
  );
}
