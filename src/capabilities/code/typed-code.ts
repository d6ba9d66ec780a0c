/** Functions whose clients have the types of the declared collections. */
import type { ResourceOf } from "holdfast-client";
import type { GuardedDeclaration, OnlyMembersOf } from "../../access/access-declaration.ts";
import type { Consumer } from "./consumers/consumer.ts";
import type { Job } from "./jobs/job.ts";
import type { CodeMembers } from "./public.ts";
import { type DeclareRoute, route } from "./routes/route.ts";

type Declaration = GuardedDeclaration & CodeMembers;

type Declarations = Readonly<Record<string, Declaration>>;

/** The collections of a configuration, and what declares functions with typed clients. */
export interface TypedCode<C extends Declarations> {
  /** The collections, as they were given. */
  readonly collections: C;
  /** As the function `route` of the package. `client` and `service` have the types of the collections. */
  readonly route: DeclareRoute<{ readonly collections: C }>;
  /** As the function `job` of the package. `client` and `service` have the types of the collections. */
  readonly job: (definition: Job<{ readonly collections: C }>) => Job;
  /**
   * Returns the collections with these consumers, by the names of the collections and of the consumers. Their `event` and `client` have the
   * types of the collections. Throws an Error if no collection has the name, or if it has a consumer of the same name.
   */
  readonly withConsumers: (
    consumers: {
      readonly [Name in keyof C]?: Readonly<
        Record<string, Consumer<ResourceOf<C[Name]>, { readonly collections: C }>>
      >;
    },
  ) => C;
}

/**
 * Returns functions that declare routes, jobs and consumers. In them, a wrong name of a collection or of an attribute is an error of the
 * compiler. They need the collections first, because the type of a configuration cannot refer to itself.
 */
export function typedCode<const C extends Declarations>(
  collections: C & OnlyMembersOf<Declaration, C>,
): TypedCode<C> {
  return {
    collections,
    route,
    job: (definition) => definition as Job,
    withConsumers: (consumers) => withConsumers(collections, consumers) as C,
  };
}

function withConsumers(
  collections: Declarations,
  consumers: Readonly<Record<string, Declaration["after"]>>,
): Declarations {
  for (const [name, added] of Object.entries(consumers)) {
    const declared = Object.hasOwn(collections, name) ? collections[name] : undefined;
    if (declared === undefined) throw new Error(`withConsumers: no collection has the name "${name}".`);
    const twice = Object.keys(added ?? {}).find((each) => Object.hasOwn(declared.after ?? {}, each));
    if (twice !== undefined)
      throw new Error(
        `withConsumers: the collection "${name}" has a consumer "${twice}" already, in its member after.`,
      );
  }
  return Object.fromEntries(
    Object.entries(collections).map(([name, declared]) => {
      const after = { ...declared.after, ...consumers[name] };
      return [name, Object.keys(after).length === 0 ? declared : { ...declared, after }];
    }),
  );
}
