/** The profile of somebody who has signed in: the texts that the user can change. */
import { send, usersName } from "./auth-service.ts";
import { element, type Field, formOf } from "./form.ts";
import { type ProfileCollection, profileField } from "./profile-fields.ts";
import { signInPageTexts as texts } from "./sign-in-page-texts.ts";

/** The collection of the profiles; without its schema if the caller cannot see it. */
export async function profileCollection(): Promise<ProfileCollection> {
  const { collections } = await send<{ collections: readonly (ProfileCollection & { name: string })[] }>(
    "GET",
    "_collections",
  ).catch(() => ({ collections: [] }));
  return collections.find(({ name }) => name === usersName) ?? {};
}

/** The form of the profile; nothing if the user cannot change it, or if it has no texts. */
export async function profilePart(id: string, back: (notice: string) => Promise<void>): Promise<Node[]> {
  const { schema, operations = [] } = await profileCollection();
  const path = `${usersName}/${encodeURIComponent(id)}`;
  if (!operations.includes("update")) return [];
  const profile = await send<Readonly<Record<string, unknown>>>("GET", path);
  const fields = Object.entries(schema?.properties ?? {})
    .filter(([name, { type, readOnly }]) => type === "string" && readOnly !== true && name !== "id")
    .map(([name, attribute]): Field => {
      const isOptional = schema?.required?.includes(name) !== true;
      return {
        ...profileField(name, attribute),
        value: textOf(profile[name]),
        isOptional,
        isSentEmpty: isOptional,
      };
    });
  if (fields.length === 0) return [];
  const work = async (values: Readonly<Record<string, unknown>>) => {
    const changed = Object.entries(values).filter(([name, value]) => value !== textOf(profile[name]));
    const patch = Object.fromEntries(changed.map(([name, value]) => [name, value === "" ? null : value]));
    if (changed.length > 0) await send("PATCH", path, patch);
    await back(texts.saved);
  };
  return [element("h2", {}, texts.profile), formOf({ fields, submit: texts.saveProfile, work })];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
