/** Runs `feed.ts` in a process of its own. */
import { writeFileSync } from "node:fs";
import { node } from "../harness/commands.ts";
import { inFolder } from "../harness/folder.ts";
import type { FeedPlan, FeedResult } from "./feed.ts";
import { outputOf } from "./load.ts";

/** Runs a plan of subscribers and creates. */
export function follow(plan: FeedPlan): Promise<FeedResult> {
  return inFolder(async (folder) => {
    const file = `${folder}/plan.json`;
    writeFileSync(file, JSON.stringify(plan));
    return JSON.parse(await outputOf([...node, "bench/load/feed.ts", file], {})) as FeedResult;
  });
}
