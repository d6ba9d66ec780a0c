/** The button to sign in, for callers who use the page without a credential. */
import { Button } from "@mantine/core";
import { useIsAdministrator } from "../service/administrator.ts";
import { askForCredential, useSession } from "../service/session.ts";
import { texts } from "../texts.ts";

/** Whether the caller has no credential, and the service knows callers who have one. */
export function useCanSignIn(): boolean {
  const { hasCredential } = useSession();
  // Without `auth`, every caller is an administrator.
  return useIsAdministrator() === false && !hasCredential;
}

/** The button. It does not exist for callers who cannot sign in. */
export function SignInButton({ className = "" }: { className?: string }) {
  if (!useCanSignIn()) return null;
  return (
    <Button className={className} size="compact-sm" variant="light" onClick={askForCredential}>
      {texts.signIn}
    </Button>
  );
}

/** The button in the head of a page, where the sidebar does not fit beside it. */
export function HeadSignIn() {
  return <SignInButton className="head-sign-in" />;
}
