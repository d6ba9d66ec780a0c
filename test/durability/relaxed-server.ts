/** The control of the durability test: the service on a store that does not flush at each commit. */
import { loadConfig } from "../../src/config.ts";
import { startServer } from "../../src/server.ts";

const config = await loadConfig({
  flags: { store: `sqlite:${process.argv[2]}`, port: "0" },
  env: {},
  cwd: process.cwd(),
});
const { origin } = await startServer(config, { storeOptions: { synchronous: "NORMAL" } });
process.stdout.write(`listens on ${origin}\n`);
