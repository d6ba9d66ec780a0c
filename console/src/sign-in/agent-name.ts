/** The names of browsers and systems in the header `User-Agent`. The first one that is there counts: many browsers also name others. */
const browsers = [
  ["Edge", /\bEdg(?:e|A|iOS)?\//],
  ["Opera", /\bOPR\//],
  ["Samsung Internet", /\bSamsungBrowser\//],
  ["Firefox", /\b(?:Firefox|FxiOS)\//],
  ["Chrome", /\b(?:Headless)?(?:Chrome|CriOS)\//],
  ["Safari", /\bVersion\/.*\bSafari\//],
] as const;

const systems = [
  ["iPhone", /\biPhone\b/],
  ["iPad", /\biPad\b/],
  ["Android", /\bAndroid\b/],
  ["Windows", /\bWindows\b/],
  ["ChromeOS", /\bCrOS\b/],
  ["macOS", /\bMacintosh\b/],
  ["Linux", /\bLinux\b/],
] as const;

/** What people call a browser: `Firefox, Linux`. The text itself if it is not known. */
export function agentName(agent: string): string {
  const [browser, system] = [browsers, systems].map((all) => all.find(([, sign]) => sign.test(agent))?.[0]);
  return browser === undefined || system === undefined ? agent : `${browser}, ${system}`;
}
