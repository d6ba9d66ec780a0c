/**
 * The main module of the single executable, and of its threads that answer requests. It loads the program with the code that V8 compiled while the program served
 * (`compiled.cjs`). Node itself can only keep the code of functions that run at once, which saves less than half as much time.
 */
const { getRawAsset } = require("node:sea");
const { Script } = require("node:vm");
const { isMainThread } = require("node:worker_threads");

const read = (name) => Buffer.from(getRawAsset(name));
const script = new Script(read("program").latin1Slice(), {
  filename: "holdfast.cjs",
  cachedData: read("compiled"), // V8 ignores it if an option of Node makes it useless
});
const module_ = { exports: {} };
script.runInThisContext()(module_.exports, require, module_, process.execPath);
if (isMainThread) module_.exports.runCommandLine();
else module_.exports.runThread();
