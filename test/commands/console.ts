/** The console of a service that runs. */
import assert from "node:assert/strict";

/** Checks that a browser gets the console, and all files that its page names, plain and compressed, and no others. */
export async function checkConsole(origin: string): Promise<void> {
  const page = await fetch(origin, { headers: { accept: "text/html" } });
  const html = await page.text();
  assert.match(html, /<meta name="holdfast-nonce" content="[^"]{24}">/);
  const files = [...html.matchAll(/(?:src|href)="\.(\/_console\/[^"]+)"/g)].map(([, file]) => `${file}`);
  assert.ok(files.length >= 2, html);
  assert.equal((await fetch(`${origin}/_console/none.js`)).status, 404);
  let total = 0;
  for (const file of files)
    for (const coding of ["br", "gzip", "identity"]) {
      const response = await fetch(origin + file, { headers: { "accept-encoding": coding } });
      assert.equal(response.status, 200, file);
      assert.equal(response.headers.get("content-encoding") ?? "identity", coding);
      const { length } = await response.text();
      assert.ok(length > 0, file);
      total += length;
    }
  assert.ok(total > 1_000_000, `${total}`);
}
