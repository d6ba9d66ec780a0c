/** The collections and the pages beside them. */
import { ActionIcon, useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { useWindowEvent } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import {
  IconActivity,
  IconClipboardList,
  IconCode,
  IconDatabase,
  IconKey,
  IconListCheck,
  IconLogout,
  IconMail,
  IconMoon,
  IconSearch,
  IconSettings,
  IconSun,
  IconUsers,
  IconWebhook,
} from "@tabler/icons-react";
import { useEffect } from "react";
import { drawer, SignInButton, useCanSignIn } from "../parts/head.tsx";
import { Logo } from "../parts/icons.tsx";
import { formatRoute, go, leavePage, type Route } from "../route.ts";
import { useServedPages, useUser } from "../service/administrator.ts";
import { useCollections, useLiveCounts } from "../service/collections.ts";
import { messageOf } from "../service/errors.ts";
import { authorization, bearer, client, setCredential, useSession } from "../service/session.ts";
import { listTexts, signInTexts, texts } from "../texts.ts";
import { NewCollectionButton } from "./new-collection.tsx";

const icons = {
  accounts: IconUsers,
  audit: IconClipboardList,
  mail: IconMail,
  tasks: IconListCheck,
  webhooks: IconWebhook,
  code: IconCode,
  keys: IconKey,
  health: IconActivity,
  configuration: IconSettings,
};

export function Sidebar({ route, onFind }: { route: Route; onFind(): void }) {
  const { data: collections = [] } = useCollections();
  useLiveCounts();
  const isOpen = drawer.use();
  const current = "collection" in route ? route.collection : undefined;
  const page = route.kind === "page" ? route.name : undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page closes the drawer
  useEffect(() => drawer.set(false), [current, page, route.kind]);
  useWindowEvent("keydown", ({ key }) => key === "Escape" && drawer.set(false));
  const servedPages = useServedPages();
  return (
    <>
      {isOpen && (
        <button
          type="button"
          className="shade"
          aria-label={listTexts.closeMenu}
          onClick={() => drawer.set(false)}
        />
      )}
      <nav className={isOpen ? "side open" : "side"} aria-label={texts.collections}>
        <a className="brand" href="#/">
          <Logo />
          Holdfast
        </a>
        <button type="button" className="find" onClick={onFind}>
          <IconSearch size={14} />
          {texts.find}
          <kbd>{/Mac|iP/.test(navigator.platform) ? "⌘ K" : "Ctrl K"}</kbd>
        </button>
        <div className="group">
          {texts.collections}
          <span className="grow" />
          <NewCollectionButton isSmall />
        </div>
        {collections.map(({ name, count }) => (
          <SideLink
            key={name}
            {...{ name, count }}
            Icon={IconDatabase}
            route={{ kind: "list", collection: name, query: "" }}
            isCurrent={name === current}
          />
        ))}
        {servedPages.length > 0 && (
          <>
            <div className="group">{texts.administration}</div>
            {servedPages.map((name) => (
              <SideLink
                key={name}
                name={listTexts.pageNames[name]}
                Icon={icons[name]}
                route={{ kind: "page", name }}
                isCurrent={name === page}
              />
            ))}
          </>
        )}
        <Foot />
      </nav>
    </>
  );
}

interface SideLinkProps {
  name: string;
  Icon: typeof IconDatabase;
  count?: number | undefined;
  route: Route;
  isCurrent: boolean;
}

function SideLink({ name, Icon, count, route, isCurrent }: SideLinkProps) {
  return (
    <a className="item" title={name} href={formatRoute(route)} aria-current={isCurrent ? "page" : undefined}>
      <Icon size={16} />
      <span className="name">{name}</span>
      {count !== undefined && <span className="count">{count.toLocaleString("en")}</span>}
    </a>
  );
}

function Foot() {
  const { hasCredential } = useSession();
  const { setColorScheme } = useMantineColorScheme();
  const isDark = useComputedColorScheme() === "dark";
  const user = useUser();
  const who = hasCredential ? bearer() : user && { subject: user.email, roles: user.roles.join(", ") };
  const without = useCanSignIn() ? signInTexts.notSignedIn : listTexts.openService;
  return (
    <div className="foot">
      <span className="who">
        <b title={user && listTexts.signedInAs(user.email)}>
          {who?.subject ?? (hasCredential ? listTexts.signedIn : without)}
        </b>
        {who?.roles ?? (hasCredential ? listTexts.withKey : location.host)}
      </span>
      <span className="grow" />
      <ActionIcon
        aria-label={isDark ? texts.light : texts.dark}
        onClick={() => setColorScheme(isDark ? "light" : "dark")}
      >
        {isDark ? <IconSun size={16} /> : <IconMoon size={16} />}
      </ActionIcon>
      <SignInButton />
      {(hasCredential || user !== undefined) && (
        <ActionIcon aria-label={texts.signOut} onClick={signOut}>
          <IconLogout size={16} />
        </ActionIcon>
      )}
    </div>
  );
}

/**
 * Signs out, unless there are unsaved changes that the caller wants to keep. The address can contain data of the caller, so the
 * page goes to its start.
 */
export function signOut(): void {
  leavePage(async () => {
    try {
      // Without a credential, the session is that of a user, in a cookie.
      if (authorization().Authorization === undefined) await client.$auth.signOut();
    } catch (error) {
      notifications.show({ color: "red", message: messageOf(error) });
      return;
    }
    go({ kind: "start" }, { replace: true });
    setCredential("");
  });
}
