/** The dialogs about one webhook: its secret, and its end. */
import { useQueryClient } from "@tanstack/react-query";
import type { Webhook } from "holdfast-client";
import { useState } from "react";
import { client } from "../service/session.ts";
import { administrationTexts } from "../texts.ts";
import { Question } from "./frame.tsx";
import { SecretDialog } from "./secret-dialog.tsx";
import { webhooksKey } from "./webhooks-page.tsx";

const own = administrationTexts.webhooks;

interface AboutWebhook {
  webhook: Webhook;
  onClose(): void;
}

/** Shows the secret of a webhook once. */
export function WebhookSecret({ secret, onClose }: { secret: string | undefined; onClose(): void }) {
  return (
    <SecretDialog
      title={own.secretTitle}
      about={own.secretAbout}
      label={own.secret}
      secret={secret}
      whenLost={own.noSecret}
      onClose={onClose}
    />
  );
}

export function RotateSecretDialog({ webhook, onClose }: AboutWebhook) {
  const queries = useQueryClient();
  const [secret, setSecret] = useState<string>();
  if (secret !== undefined) return <WebhookSecret secret={secret} onClose={onClose} />;
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
