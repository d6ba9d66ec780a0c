/**
 * The first API key of a service. The link that the service printed has a token in its fragment. The token is removed from the
 * address at once, and spent by one request.
 */
import { Button } from "@mantine/core";
import { Secret } from "../parts/copied.tsx";
import { Wrong } from "../parts/dialog.tsx";
import { Logo } from "../parts/icons.tsx";
import { messageOf } from "../service/errors.ts";
import { useAction } from "../service/queries.ts";
import { askForCredential, setCredential } from "../service/session.ts";
import { shared } from "../service/shared.ts";
import { firstKeyTexts, texts } from "../texts.ts";

const mark = "#first-key=";
const token = shared<string | undefined>(undefined);

function take(): void {
  if (!location.hash.startsWith(mark)) return;
  const text = location.hash.slice(mark.length);
  history.replaceState(null, "", "#/");
  token.set(text);
}

take();
addEventListener("hashchange", take);

/** The token that the address had, for components. */
export const useFirstKeyToken = token.use;

interface Made {
  key: string;
  roles: readonly string[];
  subject: string;
  administers: boolean;
}

export function FirstKey({ token: text }: { token: string }) {
  const { mutate, data: made, error, isPending } = useAction({ mutationFn: () => spend(text) });
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
        {error !== null && <Wrong text={messageOf(error)} />}
        {made === undefined ? (
          <Before isOver={error !== null} isBusy={isPending} onCreate={() => mutate()} />
        ) : (
          <>
            <Secret text={made.key} label={firstKeyTexts.key} />
            <p className="hint">{firstKeyTexts.rights(made)}</p>
            <Button
              size="sm"
              onClick={() => {
                setCredential(made.key);
                token.set(undefined);
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
          size="sm"
          variant="default"
          onClick={() => {
            askForCredential();
            token.set(undefined);
          }}
        >
          {texts.signIn}
        </Button>
      </>
    );
  return (
    <>
      <p className="hint">{firstKeyTexts.about}</p>
      <Button size="sm" loading={isBusy} autoFocus onClick={onCreate}>
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
