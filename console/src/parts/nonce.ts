/** The nonce of the page. The service allows styles that are made at run time only if they carry it. */
import { setNonce } from "get-nonce";

/** Empty without the service, while the console is developed. */
export const nonce = document.querySelector<HTMLMetaElement>('meta[name="holdfast-nonce"]')?.content ?? "";

// Mantine's dialogs stop the page from scrolling with a style of another package, which reads the nonce here.
setNonce(nonce);
