/** Rules and callers for tests. */
import { type Access, compileAccess, includes } from "../../src/access/access.ts";
import type { AccessDeclaration } from "../../src/access/access-declaration.ts";
import type { Principal } from "../../src/access/principal.ts";
import { readRules } from "../../src/access/rules.ts";
import { type CollectionDeclaration, defineCollection } from "../../src/collection/declaration.ts";

/** A principal with a name, and the members that a test adds. */
export function caller(subject: string, more: Partial<Omit<Principal, "subject">> = {}): Principal {
  return { subject, roles: [], claims: {}, scopes: undefined, ...more };
}

/** The access of a service with one collection, `articles`. */
export async function accessOf(
  access: AccessDeclaration | undefined,
  schema?: Readonly<Record<string, unknown>>,
  more: Partial<CollectionDeclaration> = {},
): Promise<Access> {
  const declaration = { ...(schema === undefined ? {} : { schema }), ...more };
  const articles = await defineCollection("articles", declaration);
  const rules = readRules(access, "collections.articles.access", () => ({
    ...articles,
    visibility: undefined,
  }));
  return compileAccess(new Map([["articles", articles]]), new Map([["articles", rules]]), {
    openCollections: false,
  });
}

/** Whether the caller may update an article with these attributes. */
export function mayUpdate(
  access: Access,
  principal: Principal | undefined,
  article: Readonly<Record<string, unknown>> = {},
): boolean {
  const decision = access.permit("articles", principal).may("update");
  return includes(decision, { text: JSON.stringify({ id: "a1", ...article }) });
}
