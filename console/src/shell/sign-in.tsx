/** Asks for a credential, after the service refused a request without one, or with one that it does not accept. */
import { Button, PasswordInput } from "@mantine/core";
import { IconArrowRight } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";
import { Logo } from "../parts/icons.tsx";
import { messageOf } from "../parts/problem.tsx";
import { keepCredential, setCredential, tryCredential, useSession } from "../service/session.ts";
import { signInTexts, texts } from "../texts.ts";
import { signOut } from "./sidebar.tsx";

export function SignIn() {
  const [text, setText] = useState("");
  const { hasCredential, isOptional } = useSession();
  const [problem, setProblem] = useState<string | undefined>(
    hasCredential ? signInTexts.hasEnded : undefined,
  );
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const credential = text.trim().replace(/^Bearer /i, "");
    if (!/^[\x21-\x7e]+$/.test(credential))
      return setProblem(credential === "" ? signInTexts.isEmpty : signInTexts.isNoCredential);
    setBusy(true);
    try {
      await tryCredential(credential);
      setCredential(credential);
    } catch (error) {
      setProblem(messageOf(error));
      setBusy(false);
    }
  };
  return (
    <main className="center">
      <form className="card sign-in" noValidate onSubmit={(event) => void submit(event)}>
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
            setProblem(undefined);
          }}
          error={problem}
          autoFocus
          autoComplete="off"
          spellCheck={false}
          visibilityToggleButtonProps={{ "aria-label": signInTexts.show, tabIndex: 0 }}
        />
        <Button type="submit" loading={isBusy} rightSection={<IconArrowRight size={15} />}>
          {texts.signIn}
        </Button>
        {isOptional && (
          <Button variant="subtle" color="gray" onClick={keepCredential}>
            {signInTexts.without}
          </Button>
        )}
        {hasCredential && (
          <Button variant="subtle" color="gray" onClick={signOut}>
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
