/** The pages for administrators. Each one is loaded when it is opened. */
import { Button } from "@mantine/core";
import { type ComponentType, lazy } from "react";
import { Head } from "../parts/head.tsx";
import { Empty, Loaded } from "../parts/problem.tsx";
import type { PageName } from "../route.ts";
import { useIsAdministrator, useIsSignedIn } from "../service/administrator.ts";
import { useCollections } from "../service/collections.ts";
import { askForCredential } from "../service/session.ts";
import { administrationTexts, listTexts, texts } from "../texts.ts";
import { Waiting } from "./frame.tsx";
import "./administration.css";

const pages: Readonly<Record<PageName, ComponentType>> = {
  accounts: lazy(async () => ({ default: (await import("./accounts-page.tsx")).AccountsPage })),
  audit: lazy(async () => ({ default: (await import("./audit-page.tsx")).AuditPage })),
  mail: lazy(async () => ({ default: (await import("./mail-page.tsx")).MailPage })),
  tasks: lazy(async () => ({ default: (await import("./tasks-page.tsx")).TasksPage })),
  webhooks: lazy(async () => ({ default: (await import("./webhooks-page.tsx")).WebhooksPage })),
  code: lazy(async () => ({ default: (await import("./code-page.tsx")).CodePage })),
  keys: lazy(async () => ({ default: (await import("./keys-page.tsx")).KeysPage })),
  health: lazy(async () => ({ default: (await import("./health-page.tsx")).HealthPage })),
  configuration: lazy(async () => ({
    default: (await import("./configuration-page.tsx")).ConfigurationPage,
  })),
};

export function AdministrationPage({ name }: { name: PageName }) {
  const isAdministrator = useIsAdministrator();
  const isSignedIn = useIsSignedIn();
  const { error } = useCollections();
  const Page = pages[name];
  // If the collections cannot be read, the page itself says what is wrong.
  if (isAdministrator === false && !(name === "tasks" && isSignedIn))
    return <NotForYou title={listTexts.pageNames[name]} />;
  const waiting = (
    <>
      <Head title={listTexts.pageNames[name]} />
      <Waiting />
    </>
  );
  if (isAdministrator === undefined && error === null) return waiting;
  return (
    <Loaded key={name} waiting={waiting}>
      <div className="admin">
        <Page />
      </div>
    </Loaded>
  );
}

function NotForYou({ title }: { title: string }) {
  return (
    <>
      <Head title={title} />
      <Empty title={administrationTexts.notForYou} hint={administrationTexts.notForYouHint}>
        <div className="ways">
          <Button onClick={askForCredential}>{texts.signIn}</Button>
          <Button variant="default" component="a" href="#/">
            {administrationTexts.toCollections}
          </Button>
        </div>
      </Empty>
    </>
  );
}
