/** Starts 100 services at once in the present folder, uses and stops them, and prints what the process opened for them. */
import { randomUUID } from "node:crypto";
import { readdirSync, readlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { defineConfig, job } from "../../../src/index.ts";
import { start } from "../../../src/testing.ts";

const config = defineConfig({
  auth: { users: { collection: "users", signUp: "open" }, administrators: [{ role: "ops" }] },
  collections: {
    users: {
      schema: { type: "object", properties: { name: { type: "string" } } },
      access: { read: "public" },
    },
    notes: {
      schema: { type: "object", properties: { text: { type: "string" } } },
      search: ["text"],
      access: { read: "public", create: "authenticated" },
      hooks: { before: ({ resource }) => ({ ...resource, text: `${resource.text}!` }) },
      after: {
        copy: { as: "service", run: ({ event, client }) => client.copies?.create({ of: event.subject }) },
      },
    },
    copies: { access: { read: "public" } },
  },
  jobs: {
    note: job({
      cron: "0 7 * * *",
      as: "service",
      run: ({ client }) => client.copies?.create({ of: "job" }),
    }),
  },
});

/** What the open descriptors of the process are about, but for those that Node keeps anyway. */
function openFiles(): string[] {
  return readdirSync("/proc/self/fd").flatMap((name) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${name}`);
      return /^(?:anon_inode|pipe|\/dev\/|\/proc\/)/.test(target) ? [] : [target];
    } catch {
      return []; // the descriptor of the folder itself
    }
  });
}

let threads = 0;
process.on("worker", () => threads++);
const password = "correct horse battery";

const warm = await start(config);
await warm.stop();
const before = openFiles();
const services = await Promise.all(Array.from({ length: 100 }, () => start(config)));
const texts = await Promise.all(
  services.map(async (service, n) => {
    const text = randomUUID();
    const { notes } = service.client({ subject: "ada" });
    await notes.create({ text });
    if (n % 20 === 0) {
      await service.client().$auth.signUp({ email: "a@x.example", password, profile: {} });
      if ((await service.mail()).length !== 1) throw new Error("There is not one mail.");
    }
    await service.client({ subject: "root", roles: ["ops"] }).notes.import([{ text: "imported" }]);
    await Promise.all([service.runJob("note"), service.consume()]);
    const all = await notes.list({ sort: "text" }).all();
    const copies = await service.client().copies.list({}).all();
    return all.some((each) => each.text === `${text}!`) && all.length === 2 && copies.length === 3;
  }),
);
/** What keeps the process running, but for its own output, and for the next turn of the event loop. */
const resources = () =>
  process.getActiveResourcesInfo().filter((name) => !/^(?:Pipe|TTY|FSReq|Immediate)/.test(name));
const during = { files: openFiles(), threads, resources: resources() };
await Promise.all(services.map((service) => service.stop()));
console.log(
  JSON.stringify({
    own: texts.filter(Boolean).length,
    opened: during.files.filter((file) => !before.includes(file)),
    threads: during.threads,
    kinds: [...new Set(during.resources)],
    left: resources(),
    inFolders: [...readdirSync("."), ...readdirSync(tmpdir())],
  }),
);
