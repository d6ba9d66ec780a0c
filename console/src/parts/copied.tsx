/** A text to copy. */
import { ActionIcon, CopyButton, Tooltip } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import { listTexts, texts } from "../texts.ts";

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
