/** The console: its size, the time of its build, and what a browser feels with 100,000 resources. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { type Browser, openBrowser, type Page, patienceMs } from "../../test/browser/browser.ts";
import { type Effort, shareOf } from "../harness/effort.ts";
import { type Figure, median } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { originOf, startServer, stopServer } from "../harness/server.ts";
import { fillStore } from "./fill.ts";
import { sampleAttributes } from "./sample.ts";

const folder = "dist/console";

/** The resources of a page of the list. */
const pageSize = 100;

/** Measures the build, the files, and the page in a browser. */
export async function measureConsole(effort: Effort): Promise<Figure[]> {
  const buildSeconds = build();
  const opened = await openBrowser();
  if ("why" in opened) throw new Error(`The bench of the console ${opened.why}`);
  const { browser } = opened;
  try {
    return [...sizes(), ...(await measurePage(browser, effort)), secondsOfBuild(buildSeconds)];
  } finally {
    await browser.close();
  }
}

function build(): number {
  const start = performance.now();
  const args = ["node_modules/vite/bin/vite.js", "build", "--config", "console/vite.config.ts"];
  execFileSync(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
  return (performance.now() - start) / 1_000;
}

function secondsOfBuild(seconds: number): Figure {
  return { what: "build of the console, seconds", value: seconds.toFixed(1) };
}

/** The size that a browser gets which accepts gzip. Fonts are compressed already. */
function gzipKb(path: string): number {
  const content = readFileSync(`${folder}/${path}`);
  return (path.endsWith(".woff2") ? content.length : gzipSync(content, { level: 9 }).length) / 1_000;
}

function sum(paths: readonly string[]): number {
  return paths.reduce((total, path) => total + gzipKb(path), 0);
}

function sizes(): Figure[] {
  const files: string[] = JSON.parse(readFileSync(`${folder}/files.json`, "utf8"));
  const fonts = files.filter((path) => path.endsWith(".woff2"));
  const code = sum(["index.html", ...files]) - sum(fonts);
  return [
    {
      what: "all scripts and styles of the console with gzip, kB",
      ratio: code,
      aim: { atMost: 450 },
      value: `and ${Math.round(sum(fonts))} kB of fonts in ${fonts.length} files`,
    },
  ];
}

/** Measures a service with many resources in a browser. */
function measurePage(browser: Browser, effort: Effort): Promise<Figure[]> {
  return inFolder(async (stores) => {
    const resources = shareOf(effort, 100_000);
    await fillStore(`${stores}/console.db`, resources, sampleAttributes);
    const server = await startServer("holdfast", { store: `${stores}/console.db` });
    try {
      const url = `${originOf(server)}/#/articles`;
      const times: number[] = [];
      let files: string[] = [];
      for (let round = -1; round < effort.rounds; round++) {
        const view = await firstView(browser, url);
        if (round >= 0) times.push(view.ms); // the first round loads the files into the service
        files = view.files;
      }
      const pages = Math.max(10, 100 * effort.share);
      const frames = await scroll(browser, url, pages * pageSize);
      return [
        { what: "first view of the console with gzip, kB", value: `${Math.round(sum(files))}` },
        {
          what: `navigation to the first rows of ${resources.toLocaleString("en")} resources, ms, nothing cached`,
          value: `${Math.round(median(times))} (${times.map(Math.round).join(" ")})`,
        },
        {
          what: `longest frame while ${pages} pages of the list are scrolled, ms`,
          value: `${Math.round(Math.max(...frames))}; 99 of 100 frames take at most ${Math.round(percentile(frames, 0.99))}, half of them ${Math.round(median(frames))}`,
        },
      ];
    } finally {
      await stopServer(server);
    }
  });
}

async function newPage(browser: Browser): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(patienceMs);
  return page;
}

/** Notes the time of the first frame with rows, since the navigation. */
const noteFirstRows = `window.firstRowsMs = new Promise((resolve) => {
  const onFrame = () => requestAnimationFrame(() => resolve(performance.now()));
  new MutationObserver((_, observer) => {
    if (document.querySelector("#row-0") === null) return;
    observer.disconnect();
    requestAnimationFrame(onFrame);
  }).observe(document, { childList: true, subtree: true });
})`;

/** The time until the first rows are on the screen, in milliseconds, and the files that were loaded by then. */
async function firstView(browser: Browser, url: string): Promise<{ ms: number; files: string[] }> {
  const page = await newPage(browser);
  const files = ["index.html"];
  page.on("request", (request) => {
    const [, path] = /\/(_console\/[^?]+)/.exec(request.url()) ?? [];
    if (path !== undefined) files.push(path);
  });
  await page.addInitScript(noteFirstRows);
  await page.goto(url);
  const ms = Number(await page.evaluate("window.firstRowsMs"));
  await page.context().close();
  return { ms, files };
}

/** Scrolls by a screen in each frame, until a row is reached. Returns the time of each frame, in milliseconds. */
async function scroll(browser: Browser, url: string, row: number): Promise<number[]> {
  const page = await newPage(browser);
  await page.goto(url);
  await page.waitForSelector("#row-0");
  const frames = await page.evaluate(`new Promise((resolve) => {
    const list = document.querySelector(".scroll");
    const rowHeight = document.querySelector("#row-0").getBoundingClientRect().height;
    const frames = [];
    let before = performance.now();
    const step = (now) => {
      frames.push(now - before);
      before = now;
      list.scrollTop += list.clientHeight;
      if (list.scrollTop + list.clientHeight >= ${row} * rowHeight) resolve(frames);
      else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  })`);
  await page.context().close();
  return frames as number[];
}

function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? Number.NaN;
}
