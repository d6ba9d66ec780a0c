/** A declared collection whose functions get the types of its schema. */
import type { FromSchema } from "holdfast-client";
import type { GuardedDeclaration } from "../../access/access-declaration.ts";
import type { CodeMembers, PlainResource } from "./public.ts";

/** The type of the resources of a schema. Of a schema that says nothing about them, they can have any attributes. */
type ResourceOf<Schema> =
  unknown extends FromSchema<Schema> ? PlainResource : FromSchema<Schema> & { readonly id?: string | number };

/**
 * Returns the declaration of a collection with its exact type. In its functions, resources have the types of its schema, so that a wrong
 * name is an error of the compiler.
 */
export function collection<const Schema extends object, const Declaration extends Others>(
  declaration: Declaration & { readonly schema: Schema } & CodeMembers<ResourceOf<Schema>>,
): NoInfer<Declaration & { readonly schema: Schema }> {
  return declaration;
}

type Others = Omit<GuardedDeclaration, "schema">;
