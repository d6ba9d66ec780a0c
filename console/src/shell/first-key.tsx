/**
 * The first API key of a service. The link that the service printed has a token in its fragment. The token is removed from the
 * address at once, and spent by one request.
 */
import { Alert, Button } from "@mantine/core";
import { useState, useSyncExternalStore } from "react";
import { Logo } from "../parts/icons.tsx";
import { Secret } from "../parts/secret.tsx";
import { askForCredential, setCredential } from "../service/session.ts";
import { firstKeyTexts, texts } from "../texts.ts";

const mark = "#first-key=";
let token: string | undefined;
const listeners = new Set<() => void>();

function take(): void {
  if (!location.hash.startsWith(mark)) return;
  const text = location.hash.slice(mark.length);
  history.replaceState(null, "", "#/");
  setToken(text);
}

function setToken(next: string | undefined): void {
  token = next;
  for (const listener of listeners) listener();
}

take();
addEventListener("hashchange", take);

/** The token that the address had. */
export function useFirstKeyToken(): string | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => token,
  );
}

interface Made {
  key: string;
  roles: readonly string[];
  subject: string;
  administers: boolean;
}

export function FirstKey({ token: text }: { token: string }) {
  const [made, setMade] = useState<Made>();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const create = async () => {
    setBusy(true);
    try {
      setMade(await spend(text));
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <main className="center">
      <section className="card sign-in first-key">
        <div className="brand">
          <Logo size={34} />
          <div>
            <h1>{made === undefined ? firstKeyTexts.title : firstKeyTexts.madeTitle}</h1>
            <div className="soft">{location.host}</div>
          </div>
        </div>
        {problem !== undefined && (
          <Alert color="red" role="alert">
            {problem}
          </Alert>
        )}
        {made === undefined ? (
          <Before isOver={problem !== undefined} isBusy={isBusy} onCreate={() => void create()} />
        ) : (
          <>
            <Secret text={made.key} label={firstKeyTexts.key} />
            <p className="hint">{firstKeyTexts.rights(made)}</p>
            <Button
              onClick={() => {
                setCredential(made.key);
                setToken(undefined);
              }}
            >
              {firstKeyTexts.signIn}
            </Button>
          </>
        )}
      </section>
    </main>
  );
}

function Before({ isOver, isBusy, onCreate }: { isOver: boolean; isBusy: boolean; onCreate(): void }) {
  if (isOver)
    return (
      <>
        <p className="hint">
          {firstKeyTexts.instead} <code>npx holdfast keys create</code>
        </p>
        <Button
          variant="default"
          onClick={() => {
            askForCredential();
            setToken(undefined);
          }}
        >
          {texts.signIn}
        </Button>
      </>
    );
  return (
    <>
      <p className="hint">{firstKeyTexts.about}</p>
      <Button loading={isBusy} autoFocus onClick={onCreate}>
        {firstKeyTexts.create}
      </Button>
    </>
  );
}

/** Exchanges the token for the key. Throws an error with a sentence for people. */
async function spend(text: string): Promise<Made> {
  const response = await fetch(new URL("_console/first-key", document.baseURI), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ token: text }),
  });
  if (response.status === 404) throw new Error(firstKeyTexts.spent);
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(typeof body.detail === "string" ? body.detail : firstKeyTexts.failed);
  return body;
}
