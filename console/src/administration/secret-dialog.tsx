/** The dialog of a secret that is shown once. */
import { Button } from "@mantine/core";
import { Dialog } from "../parts/dialog.tsx";
import { Secret } from "../parts/secret.tsx";
import { administrationTexts } from "../texts.ts";

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
      footer={
        <Button size="sm" onClick={onClose}>
          {administrationTexts.saved}
        </Button>
      }
    >
      <div className="admin-form">
        {secret === undefined ? <p>{whenLost}</p> : <Secret label={label} text={secret} />}
      </div>
    </Dialog>
  );
}
