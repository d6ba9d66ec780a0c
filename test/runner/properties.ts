/**
 * How all properties of fast-check run. The seed is the one of `seed.ts`. A property that fails says so at once, with its seed and its path,
 * and searches no smaller example: that can take minutes, and can end in another failure. The command that the summary prints has the path:
 * with HOLDFAST_TEST_PATH, only this case runs, and then a smaller one is searched for a while.
 */
import fc from "fast-check";
import { seed } from "../seed.ts";

/** How long a smaller example is searched, in milliseconds. */
const shrinkingMs = 30_000;

const path = process.env.HOLDFAST_TEST_PATH;

fc.configureGlobal(
  path === undefined
    ? { seed, endOnFailure: true }
    : ({ seed, path, interruptAfterTimeLimit: shrinkingMs, markInterruptAsFailure: false } as Parameters),
);

/** The types of fast-check leave out the path, because it makes sense for one property only. */
type Parameters = fc.GlobalParameters & { path: string };
