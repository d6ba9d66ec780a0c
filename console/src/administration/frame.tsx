/** What the pages for administrators share. */
import { Copied, Secret } from "../parts/copied.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { otherProblems, type Refusal, refusalOf } from "../service/errors.ts";
import { administrationTexts, texts } from "../texts.ts";

export function Waiting() {
  return (
    <output className="bones" aria-label={texts.loading}>
      {[72, 54, 64].map((width) => (
        <span key={width} className="bone" style={{ width: `${width}%` }} />
      ))}
    </output>
  );
}

/** Says how to turn something on in the configuration. */
export function TurnOn({ title, hint, text }: { title: string; hint: string; text: string }) {
  return (
    <section className="card turn-on">
      <b>{title}</b>
      <p>{hint}</p>
      <p>{administrationTexts.turnOn}</p>
      <Copied text={text} />
    </section>
  );
}

interface SecretDialogProps {
  title: string;
  about: string;
  /** What the secret is. */
  label: string;
  /** `undefined` if the response with it was lost. */
  secret: string | undefined;
  /** What to do if it was lost. */
  whenLost?: string;
  onClose(): void;
}

/** Shows a secret. Only the button closes it, so that the secret is not lost by accident. */
export function SecretDialog({ title, about, label, secret, whenLost, onClose }: SecretDialogProps) {
  return (
    <Dialog
      width={560}
      isSticky
      title={title}
      about={about}
      onClose={onClose}
      closing={administrationTexts.saved}
    >
      <div className="admin-form">
        {secret === undefined ? <p>{whenLost}</p> : <Secret label={label} text={secret} />}
      </div>
    </Dialog>
  );
}

/** The sentence for a field, and the sentences that belong to no field. */
export function fieldProblems(error: unknown, fields: readonly string[]) {
  const isWrong = error !== null && error !== undefined;
  const refusal: Refusal = isWrong ? refusalOf(error) : { byName: new Map(), others: [] };
  return {
    at: (name: string) => refusal.byName.get(name)?.join(" "),
    others: otherProblems(refusal, new Set(fields)),
  };
}
