/** Explores a saved recording again. Its first argument is the file. */
import { readSaved } from "./saved.ts";
import { exploreImages } from "./session.ts";

const { recording, exploration } = readSaved(process.argv[2] ?? "");
const { images, bad } = await exploreImages(recording, exploration);
for (const { at, survival, faults } of bad)
  console.log(`after event ${at}, on the disk: ${survival}: ${faults.join("; ")}`);
console.log(`${bad.length} of ${images} images are bad`);
