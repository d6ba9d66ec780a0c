/** The public interface of the package: the types of a configuration file, and the plugin for Fastify. */
import type { GuardedDeclaration, OnlyMembersOf } from "./access/access-declaration.ts";
import type { CodeMembers, Job } from "./capabilities/public.ts";
import type { Given, GivenOptions } from "./config/options.ts";
import type { App } from "./http/wire/mount.ts";
import type { applicationLimits, applicationOptions } from "./server/plugin.ts";

export type { AccessDeclaration, Rule, Where } from "./access/access-declaration.ts";
export { owner } from "./access/access-declaration.ts";
export type { AdministratorRule } from "./access/roles.ts";
export * from "./capabilities/public.ts";
export type { AttributesDeclaration } from "./collection/attribute-rules.ts";
export type { HookCaller } from "./http/wire/mount.ts";

/** An issuer whose JSON Web Tokens the service accepts, and the claims that it reads. */
export type JwtOptions = Given<"auth.jwt">;

/** People who sign in, and how. */
export type UserOptions = Given<"auth.users">;

/** The configuration of one collection. */
export interface CollectionDeclaration extends GuardedDeclaration, CodeMembers {}

/** The content of a configuration file. */
export interface HoldfastConfig extends GivenOptions {
  /** The declared collections, by name. @default none: clients create collections by using them */
  collections?: Readonly<Record<string, CollectionDeclaration>>;
}

/**
 * Returns the configuration with its exact type, from which the typed client takes the types of resources and routes, and a test the names of
 * jobs.
 */
export function defineConfig<
  const C extends Collections = Collections,
  const R extends Routes = Routes,
  const J extends string = string,
>(
  config: Omit<HoldfastConfig, "collections" | "routes" | "jobs"> & {
    readonly collections?: C & OnlyMembersOf<CollectionDeclaration, C>;
    readonly routes?: R;
    readonly jobs?: Readonly<Record<J, Job>>;
  },
): Defined<C, R, J> {
  return config as typeof config & Defined<C, R, J>;
}

/** A configuration with its exact type. `J`: the names of its jobs. */
type Defined<C, R, J extends string> = Omit<HoldfastConfig, "collections" | "routes" | "jobs"> & {
  readonly collections: C;
  readonly routes: R;
  readonly jobs: Readonly<Record<J, Job>>;
};

type Routes = NonNullable<HoldfastConfig["routes"]>;

type Collections = NonNullable<HoldfastConfig["collections"]>;

/** A configuration without the options that belong to the application. */
export interface EmbeddedConfig extends Omit<HoldfastConfig, (typeof applicationOptions)[number] | "limits"> {
  limits?: Omit<NonNullable<HoldfastConfig["limits"]>, (typeof applicationLimits)[number]>;
}

/**
 * A plugin for Fastify: `app.register(holdfast, config)` serves the collections below the prefix. The hooks of the
 * application run first. The store opens before the application is ready, and closes with it.
 */
export function holdfast(app: App, config: EmbeddedConfig): void {
  // A configuration file does not need this code.
  const opening = import("./server/plugin.ts").then(({ openFor }) => openFor(app, { ...config }));
  const opened = opening.catch(() => undefined); // Fastify reports the error
  app.addHook("onClose", async () => (await opened)?.close());
  // `pluginTimeout` of the application limits a plugin, but not the promise of one. A store can take longer to open.
  app.register(opening.then(({ serve }) => ({ default: serve })));
}
