/** A SQLite store that several threads have open. The tests use their stores in turn. */
import { openStore, type StoreOptions } from "../../src/store/open.ts";
import type { Store } from "../../src/store/port/store.ts";
import type { Fixture } from "./contract/fixture.ts";
import { openSqliteFixture } from "./sqlite-fixture.ts";

/** A store that `main` has opened, as another thread of the process opens it. */
export async function join(main: Store, { path }: { path: string }, options: StoreOptions = {}) {
  return openStore({ kind: "sqlite", path }, { ...options, attachment: main.attach()?.attachment });
}

/** Three stores on one file. Calls go to the next one whenever no call is in progress, so that the order of commits is certain. */
export async function openJoinedFixture(options: StoreOptions = {}): Promise<Fixture & { path: string }> {
  const fixture = await openSqliteFixture(options);
  let joined: Store[] = [];
  const around = async (main: Store, changed: StoreOptions = {}) => {
    const all = { ...options, ...changed };
    joined = [await join(main, fixture, all), await join(main, fixture, all)];
    return inTurn([main, ...joined]);
  };
  const closeJoined = () => Promise.all(joined.map((store) => store.close()));
  return {
    ...fixture,
    store: await around(fixture.store),
    async reopen(changed = {}) {
      await closeJoined();
      return around(await fixture.reopen(changed), changed);
    },
    async cleanup() {
      await closeJoined();
      await fixture.cleanup();
    },
  };
}

/** A store whose methods are those of several stores in turn. */
function inTurn(stores: readonly Store[]): Store {
  let turn = 0;
  let inProgress = 0;
  const end = () => {
    inProgress--;
  };
  const next = <T extends object>(all: readonly T[]): T =>
    new Proxy(all[0] as T, {
      get: (_first, name) => {
        if (name === "then") return undefined;
        if (name === "close") return () => Promise.all(stores.map((store) => store.close()));
        if (name === "keys") return next(stores.map(({ keys }) => keys));
        return (...args: unknown[]) => {
          if (inProgress === 0) turn++;
          const target = all[turn % all.length] as T;
          const result = (Reflect.get(target, name) as (...all: unknown[]) => unknown).apply(target, args);
          if (result instanceof Promise) {
            inProgress++;
            result.then(end, end);
          }
          return result;
        };
      },
    });
  return next(stores);
}
