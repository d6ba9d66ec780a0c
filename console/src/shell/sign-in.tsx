/** Asks for a credential, after the service refused a request without one, or with one that it does not accept. */
import { Button, PasswordInput } from "@mantine/core";
import { IconArrowRight } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";
import { Logo } from "../parts/icons.tsx";
import { messageOf } from "../service/errors.ts";
import { useAction } from "../service/queries.ts";
import { accountPage, keepCredential, setCredential, tryCredential, useSession } from "../service/session.ts";
import { signInTexts, texts } from "../texts.ts";
import { signOut } from "./sidebar.tsx";

export function SignIn() {
  const [text, setText] = useState("");
  const { hasCredential, isOptional } = useSession();
  const { mutate, isPending, error, reset } = useAction({
    mutationFn: async () => {
      const credential = text.trim().replace(/^Bearer /i, "");
      if (credential === "") throw new Error(signInTexts.isEmpty);
      if (!/^[\x21-\x7e]+$/.test(credential)) throw new Error(signInTexts.isNoCredential);
      await tryCredential(credential);
      setCredential(credential);
    },
  });
  const account = accountPage();
  const [hasEnded, setEnded] = useState(hasCredential);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setEnded(false);
    mutate();
  };
  return (
    <main className="center">
      <form className="card sign-in" noValidate onSubmit={submit}>
        <div className="brand">
          <Logo size={34} />
          <div>
            <h1>{signInTexts.title}</h1>
            <div className="soft">{location.host}</div>
          </div>
        </div>
        <PasswordInput
          label={texts.apiKeyOrToken}
          description={texts.keptInTab}
          placeholder="hf_…"
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value);
            setEnded(false);
            reset();
          }}
          error={error === null ? hasEnded && signInTexts.hasEnded : messageOf(error)}
          autoFocus
          autoComplete="off"
          spellCheck={false}
          visibilityToggleButtonProps={{ "aria-label": signInTexts.show, tabIndex: 0 }}
        />
        <Button type="submit" loading={isPending} rightSection={<IconArrowRight size={15} />}>
          {texts.signIn}
        </Button>
        {account !== undefined && (
          <Button component="a" href={account} size="sm" variant="subtle">
            {signInTexts.withAccount}
          </Button>
        )}
        {isOptional && (
          <Button size="sm" variant="subtle" color="gray" onClick={keepCredential}>
            {signInTexts.without}
          </Button>
        )}
        {hasCredential && (
          <Button size="sm" variant="subtle" color="gray" onClick={signOut}>
            {texts.signOut}
          </Button>
        )}
        <p className="hint">
          {signInTexts.noKey} <code>npx holdfast keys create</code> {signInTexts.whereItRuns}
        </p>
      </form>
    </main>
  );
}
