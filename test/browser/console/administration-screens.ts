/** The screens of administrators, and those that need no credential, each with how it opens. */
import type { Page } from "playwright-core";
import { administrationTexts, firstKeyTexts, signInTexts, texts } from "../../../console/src/texts.ts";
import { pressInDialog } from "./console-page.ts";
import { openDialog, press, type Screen } from "./list-screens.ts";

const { keys, tasks, webhooks, health } = administrationTexts;

/** The screens of administrators. */
export const administrationScreens: readonly Screen[] = [
  {
    name: "keys",
    fragment: "#/_keys",
    open: (page) => page.getByText("site", { exact: true }).first().waitFor(),
  },
  {
    name: "all keys",
    fragment: "#/_keys",
    async open(page) {
      await page.getByText(keys.all, { exact: true }).click();
      await page.getByText(keys.states.revoked).waitFor();
    },
  },
  {
    name: "menu of a key",
    fragment: "#/_keys",
    async open(page) {
      await press(page, administrationTexts.actionsOf("site"));
      await page.getByRole("menuitem", { name: keys.revoke }).waitFor();
    },
  },
  { name: "rotate a key", fragment: "#/_keys", open: (page) => openAction(page, "site", keys.rotate) },
  { name: "revoke a key", fragment: "#/_keys", open: (page) => openAction(page, "site", keys.revoke) },
  { name: "new key", fragment: "#/_keys", open: (page) => openDialog(page, keys.create) },
  {
    name: "refused key",
    fragment: "#/_keys",
    async open(page) {
      await openDialog(page, keys.create);
      await page.getByRole("dialog").getByLabel(keys.columns.name, { exact: true }).fill("site");
      await pressInDialog(page, keys.doCreate);
      await page.getByRole("dialog").getByRole("alert").waitFor();
    },
  },
  {
    name: "a made key",
    fragment: "#/_keys",
    async open(page) {
      await openDialog(page, keys.create);
      await page.getByRole("dialog").getByLabel(keys.columns.name, { exact: true }).fill("made");
      await pressInDialog(page, keys.doCreate);
      await page.locator(".secret").waitFor();
    },
  },
  {
    name: "tasks",
    fragment: "#/_tasks",
    open: (page) =>
      page
        .getByRole("region", { name: tasks.refusals("") })
        .first()
        .waitFor(),
  },
  {
    name: "undo a task",
    fragment: "#/_tasks",
    open: (page) => openDialog(page, tasks.undo),
  },
  {
    name: "webhooks",
    fragment: "#/_webhooks",
    async open(page) {
      await page.locator(".webhook-open").click();
      await page.locator(".delivery-open").first().click();
      await page.getByText("Closed for lunch").first().waitFor();
    },
  },
  {
    name: "webhook test",
    fragment: "#/_webhooks",
    async open(page) {
      await press(page, webhooks.test);
      await page.getByText(webhooks.testFailed(503)).waitFor();
    },
  },
  {
    name: "menu of a webhook",
    fragment: "#/_webhooks",
    async open(page) {
      await page.locator(".webhook-actions").getByRole("button").last().click();
      await page.getByRole("menuitem", { name: webhooks.remove }).waitFor();
    },
  },
  {
    name: "new webhook",
    fragment: "#/_webhooks",
    async open(page) {
      await openDialog(page, webhooks.create);
      await page.getByText(webhooks.more).click();
      await page.getByLabel(webhooks.description).waitFor();
    },
  },
  {
    name: "edit a webhook",
    fragment: "#/_webhooks",
    open: (page) => openAction(page, "http", webhooks.edit),
  },
  {
    name: "rotate a secret",
    fragment: "#/_webhooks",
    open: (page) => openAction(page, "http", webhooks.rotate),
  },
  {
    name: "delete a webhook",
    fragment: "#/_webhooks",
    open: (page) => openAction(page, "http", webhooks.remove),
  },
  {
    name: "configuration",
    fragment: "#/_configuration",
    open: (page) => page.getByText("port", { exact: true }).waitFor(),
  },
  { name: "health", fragment: "#/_health", open: (page) => page.getByText(health.loop).waitFor() },
];

/** The screens that need no credential. */
export const openScreens: readonly Screen[] = [
  {
    name: "nothing to see",
    fragment: "#/",
    open: (page) => page.getByText(signInTexts.nothingToSee).waitFor(),
  },
  {
    name: "sign-in",
    fragment: "#/",
    async open(page) {
      await press(page, texts.signIn);
      await page.getByLabel(texts.apiKeyOrToken, { exact: true }).waitFor();
    },
  },
  {
    name: "refused sign-in",
    fragment: "#/",
    async open(page) {
      await press(page, texts.signIn);
      await page.getByLabel(texts.apiKeyOrToken, { exact: true }).fill("wrong");
      await page.keyboard.press("Enter");
      await page.locator(".mantine-InputWrapper-error").waitFor();
    },
  },
  {
    name: "first key",
    fragment: "#first-key=x",
    open: (page) => page.getByRole("button", { name: firstKeyTexts.create }).waitFor(),
  },
  {
    name: "spent link",
    fragment: "#first-key=x",
    async open(page) {
      await press(page, firstKeyTexts.create);
      await page.getByText(firstKeyTexts.spent).waitFor();
    },
  },
];

/** Opens a dialog by the menu of the first thing whose name begins like this. */
async function openAction(page: Page, name: string, action: string): Promise<void> {
  await page
    .getByRole("button", { name: administrationTexts.actionsOf(name) })
    .first()
    .click();
  await page.getByRole("menuitem", { name: action, exact: true }).click();
  await page.getByRole("dialog").getByRole("button").first().waitFor();
}
