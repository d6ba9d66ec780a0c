/** The passwords that services of this process give to the thread that hashes them. */
import type { TestContext } from "node:test";
import { Worker } from "node:worker_threads";

/** Calls `each` for every password instead of giving it to its thread, until the test ends. `give` gives it. */
export function onHash(t: TestContext, each: (give: () => void) => void): void {
  const { prototype } = Worker;
  const { postMessage } = prototype;
  prototype.postMessage = function (this: Worker, ...given: Parameters<typeof postMessage>) {
    const give = () => postMessage.apply(this, given);
    if (Object(given[0]).passes === undefined) give();
    else each(give);
  };
  t.after(() => {
    prototype.postMessage = postMessage;
  });
}

/** Lets passwords of this process wait before they are hashed. */
export interface HeldHashes {
  /** From now on, none is hashed. */
  hold(): void;
  /** Hashes those that wait, and later ones at once. */
  release(): void;
}

/** Holds the passwords of this process until the test ends, or releases them. */
export function holdHashes(t: TestContext): HeldHashes {
  let held: (() => void)[] | undefined = [];
  onHash(t, (give) => {
    if (held === undefined) give();
    else held.push(give);
  });
  return {
    hold() {
      held ??= [];
    },
    release() {
      for (const give of held ?? []) give();
      held = undefined;
    },
  };
}
