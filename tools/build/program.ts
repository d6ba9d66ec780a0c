/**
 * The program as one module, for the bundles. The command line and the Fastify plugin load the parts that they use only when they
 * need them.
 */

/** Runs the command line of this process. */
export async function runCommandLine(): Promise<void> {
  await import("../../src/cli.ts");
}

/** Runs a thread that answers requests. */
export async function runThread(): Promise<void> {
  await import("../../src/server/thread.ts");
}

/** A service for tests. */
export async function startInMemory(
  ...args: Parameters<typeof import("../../src/testing/start.ts").startInMemory>
): ReturnType<typeof import("../../src/testing/start.ts").startInMemory> {
  const { startInMemory } = await import("../../src/testing/start.ts");
  return startInMemory(...args);
}

/** The Fastify plugin. */
export async function openFor(
  ...args: Parameters<typeof import("../../src/server/plugin.ts").openFor>
): ReturnType<typeof import("../../src/server/plugin.ts").openFor> {
  const plugin = await import("../../src/server/plugin.ts");
  return plugin.openFor(...args);
}
