/** Removes what a program no longer uses, so that a test can measure the memory that is in use. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");

/** Collects all garbage of this thread now. On a busy machine, V8 itself can leave more than a gigabyte of it. */
export const collectGarbage = runInNewContext("gc") as () => void;
