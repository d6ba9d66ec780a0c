/** The head of a page, with what the sidebar has where it does not fit beside the page. */
import { ActionIcon, Button } from "@mantine/core";
import { IconMenu2 } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { useIsAdministrator, useUser } from "../service/administrator.ts";
import { askForCredential, useSession } from "../service/session.ts";
import { shared } from "../service/shared.ts";
import { listTexts, texts } from "../texts.ts";

/** Whether the sidebar is open where it does not fit beside the page. */
export const drawer = shared(false);

interface HeadProps {
  title: string;
  /** How many there are, and how many of all, if they are a part. */
  count?: number | undefined;
  all?: number | undefined;
  /** What stands beside the title. */
  beside?: ReactNode;
  /** The buttons at the other end. */
  children?: ReactNode;
}

export function Head({ title, count, all, beside, children }: HeadProps) {
  return (
    <header className="head">
      <ActionIcon className="menu-button" aria-label={listTexts.menu} onClick={() => drawer.set(true)}>
        <IconMenu2 size={18} />
      </ActionIcon>
      <h1 title={title}>{title}</h1>
      {count !== undefined && (
        <span className="n">
          {count.toLocaleString("en")}
          {all !== undefined && ` ${listTexts.ofAll(all)}`}
        </span>
      )}
      {beside}
      <span className="grow" />
      <span className="head-actions">{children}</span>
      <SignInButton className="head-sign-in" />
    </header>
  );
}

/** Whether the caller has no credential, and the service knows callers who have one. */
export function useCanSignIn(): boolean {
  const { hasCredential } = useSession();
  const user = useUser();
  // Without `auth`, every caller is an administrator.
  return useIsAdministrator() === false && !hasCredential && user === undefined;
}

/** The button to sign in. It does not exist for callers who cannot. */
export function SignInButton({ className = "" }: { className?: string }) {
  if (!useCanSignIn()) return null;
  return (
    <Button className={className} size="compact-sm" variant="light" onClick={askForCredential}>
      {texts.signIn}
    </Button>
  );
}
