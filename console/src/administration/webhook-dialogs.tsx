/** The dialogs about one webhook: its secret, and its end. */
import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import type { Webhook } from "holdfast-client";
import { useState } from "react";
import { Dialog } from "../parts/dialog.tsx";
import { Secret } from "../parts/secret.tsx";
import { client } from "../service/session.ts";
import { administrationTexts } from "../texts.ts";
import { Question } from "./frame.tsx";
import { webhooksKey } from "./webhooks-page.tsx";

const own = administrationTexts.webhooks;

interface AboutWebhook {
  webhook: Webhook;
  onClose(): void;
}

/** Shows a secret once. Only its button closes it. */
export function SecretDialog({ secret, onClose }: { secret: string | undefined; onClose(): void }) {
  return (
    <Dialog
      width={560}
      isSticky
      title={own.secretTitle}
      about={own.secretAbout}
      onClose={onClose}
      footer={
        <Button size="sm" onClick={onClose}>
          {administrationTexts.saved}
        </Button>
      }
    >
      <div className="admin-form">
        {secret === undefined ? <p>{own.noSecret}</p> : <Secret label={own.secret} text={secret} />}
      </div>
    </Dialog>
  );
}

export function RotateSecretDialog({ webhook, onClose }: AboutWebhook) {
  const queries = useQueryClient();
  const [secret, setSecret] = useState<string>();
  if (secret !== undefined) return <SecretDialog secret={secret} onClose={onClose} />;
  return (
    <Question
      title={own.rotateTitle}
      about={own.rotateAbout}
      action={own.doRotate}
      closes={false}
      run={async () => {
        setSecret(await client.$webhooks.rotate(webhook.id));
        await queries.invalidateQueries({ queryKey: webhooksKey });
      }}
      onClose={onClose}
    />
  );
}

export function RemoveDialog({ webhook, onClose }: AboutWebhook) {
  const queries = useQueryClient();
  return (
    <Question
      title={own.removeTitle}
      about={own.removeAbout(webhook.url)}
      action={own.remove}
      isDangerous
      run={async () => {
        await client.$webhooks.delete(webhook.id);
        await queries.invalidateQueries({ queryKey: webhooksKey });
      }}
      onClose={onClose}
    />
  );
}
