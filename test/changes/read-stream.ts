/** Reads server-sent events from a response, frame by frame. */

/** One frame. */
export interface StreamFrame {
  id?: string;
  data?: string;
  retry?: string;
}

/** The frames of a stream as they come. */
export async function* readEventStream({ body }: Response): AsyncGenerator<StreamFrame> {
  if (body === null) return;
  let text = "";
  for await (const part of body.pipeThrough(new TextDecoderStream())) {
    text += part;
    for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
      const lines = text.slice(0, end).split("\n");
      text = text.slice(end + 2);
      yield Object.fromEntries(
        lines.map((line) => [
          line.slice(0, line.indexOf(":")),
          line.slice(line.indexOf(":") + 1).replace(/^ /, ""),
        ]),
      );
    }
  }
}
