/** Says what was done, with a button that undoes it. */
import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { texts } from "../texts.ts";
import { messageOf } from "./problem.tsx";

/** Shows a message for a while. The button is missing without `undo`. An error of `undo` is shown too. */
export function offerUndo(message: string, undo: (() => Promise<void>) | undefined): void {
  const press = async () => {
    notifications.hide(note);
    try {
      await undo?.();
    } catch (error) {
      notifications.show({ color: "red", message: messageOf(error) });
    }
  };
  const note = notifications.show({
    autoClose: 12_000,
    message: (
      <span className="undo">
        <span>{message}</span>
        {undo !== undefined && (
          <Button size="compact-xs" variant="default" onClick={() => void press()}>
            {texts.resource.undo}
          </Button>
        )}
      </span>
    ),
  });
}
