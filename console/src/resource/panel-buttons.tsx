/** The buttons of a panel with a form: one that saves, and one that gives up. */
import { Button, Kbd } from "@mantine/core";
import { texts } from "../texts.ts";

interface PanelButtonsProps {
  save: { label: string; isDisabled: boolean; isBusy: boolean; onPress(): void };
  giveUp: { label: string; isDisabled?: boolean; onPress(): void };
  /** What is said beside the buttons. */
  state: string;
  /** Whether the key that saves is shown. */
  hasKey?: boolean;
}

export function PanelButtons({ save, giveUp, state, hasKey = true }: PanelButtonsProps) {
  return (
    <>
      <Button size="sm" disabled={save.isDisabled} loading={save.isBusy} onClick={save.onPress}>
        {save.label}
      </Button>
      <Button size="sm" variant="default" disabled={giveUp.isDisabled === true} onClick={giveUp.onPress}>
        {giveUp.label}
      </Button>
      <span className="grow" />
      <span className="soft state" role="status">
        {state}
        {hasKey && (
          <Kbd size="xs" ml={8}>
            {texts.resource.saveKey}
          </Kbd>
        )}
      </span>
    </>
  );
}
