/** The frame of the service's own pages: each is one file, has no scripts, and loads nothing from elsewhere. */
import { hash } from "node:crypto";
import type { Document } from "../operations/result.ts";

/** The content of a page. */
export interface PageContent {
  status: number;
  title: string;
  /** HTML. Text from a request must be escaped. */
  main: string;
}

/** A page as a document. */
export function htmlPage({ status, title, main }: PageContent): Document {
  return {
    status,
    type: "text/html; charset=utf-8",
    body: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(logo)}">
<style>${style}</style>
</head>
<body>
<main>
${main}
</main>
</body>
</html>
`,
    headers: { "content-security-policy": policy },
  };
}

/** Escapes text for HTML, also for an attribute in quotes. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The letter H on a tile, as SVG. */
export const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" width="40" height="40" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#0f766e"/><path d="M10 8v16M22 8v16M10 16h12" fill="none" stroke="#fff" stroke-width="3.5" stroke-linecap="round"/></svg>';

const style = `
:root{color-scheme:light dark;--back:#f5f7f8;--card:#fff;--line:#d9e0e4;--text:#17212b;--soft:#52606d;--accent:#0f766e;--code:#eef2f4}
@media (prefers-color-scheme:dark){:root{--back:#0e1418;--card:#161e24;--line:#2b3740;--text:#e6ecf0;--soft:#9fb0bc;--accent:#5eead4;--code:#0b1013}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--text);font:16px/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:46rem;margin:0 auto;padding:clamp(1.5rem,6vw,4.5rem) 1.25rem}
header{display:flex;align-items:center;gap:.9rem}
header svg{flex:none}
h1{margin:0;overflow-wrap:anywhere;font-size:1.9rem;line-height:1.2;letter-spacing:-.02em}
h2{margin:2.4rem 0 .7rem;font-size:1.05rem}
p{margin:.9rem 0 0;color:var(--soft)}
.lead{font-size:1.1rem}
a{color:var(--accent);text-underline-offset:.2em}
ul{list-style:none;margin:0;padding:0}
.ways{display:grid;grid-template-columns:repeat(auto-fit,minmax(13rem,1fr));gap:.8rem;margin-top:1.8rem}
.ways a{display:block;height:100%;padding:.9rem 1.1rem;background:var(--card);border:1px solid var(--line);border-radius:.7rem;text-decoration:none}
.ways strong{display:block}
.ways span{color:var(--soft);font-size:.92rem}
.names{display:flex;flex-wrap:wrap;gap:.5rem}
.names a{display:block;max-width:100%;overflow-wrap:anywhere;padding:.2rem .8rem;background:var(--card);border:1px solid var(--line);border-radius:1rem;text-decoration:none}
a:hover,a:focus-visible{border-color:var(--accent)}
a:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
code{font:.9em/1.6 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
p code{padding:.1em .35em;background:var(--code);border-radius:.3em;color:var(--text)}
pre{margin:0;padding:.9rem 1.1rem;background:var(--code);border:1px solid var(--line);border-radius:.7rem;white-space:pre-wrap}
`;

/** Allows only the page's own style and icon. It replaces the policy of other responses. */
const policy = `default-src 'none'; style-src 'sha256-${hash("sha256", style, "base64")}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
