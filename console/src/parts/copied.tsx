/** Texts to copy. */
import { ActionIcon, Button, CopyButton, Tooltip } from "@mantine/core";
import { IconAlertTriangle, IconCheck, IconCopy } from "@tabler/icons-react";
import { administrationTexts, listTexts, texts } from "../texts.ts";

export function Copied({ text }: { text: string }) {
  return (
    <div className="with-copy">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long text scrolls */}
      <pre className="code" tabIndex={0}>
        {text}
      </pre>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? texts.copied : listTexts.copy}>
            <ActionIcon
              variant="default"
              size="sm"
              aria-label={copied ? texts.copied : listTexts.copy}
              onClick={copy}
            >
              {copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
    </div>
  );
}

export function Secret({ text, label }: { text: string; label: string }) {
  return (
    <div className="secret">
      <b>{label}</b>
      <div className="secret-text">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long text scrolls */}
        <code tabIndex={0}>{text}</code>
        <CopyButton value={text}>
          {({ copied, copy }) => (
            <Button
              variant="default"
              data-autofocus
              leftSection={copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
              onClick={copy}
            >
              {copied ? texts.copied : listTexts.copy}
            </Button>
          )}
        </CopyButton>
      </div>
      <p className="secret-warning">
        <IconAlertTriangle size={15} aria-hidden="true" />
        {administrationTexts.shownOnce}
      </p>
    </div>
  );
}
