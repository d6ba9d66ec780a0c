/** Part of the build: copies the files of Swagger UI that the page at /docs needs into what is published, with their licences. */
import { cpSync } from "node:fs";
import { createRequire } from "node:module";

const files = [
  "swagger-ui-bundle.js",
  "swagger-ui-bundle.js.LICENSE.txt",
  "swagger-ui.css",
  "LICENSE",
  "NOTICE",
];

const { resolve } = createRequire(import.meta.url);

for (const file of files) cpSync(resolve(`swagger-ui-dist/${file}`), `dist/docs-page/${file}`);
