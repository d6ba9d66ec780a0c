#!/usr/bin/env -S node --conditions=holdfast-source
// `npx holdfast` in the clone: a configuration that imports "holdfast" gets the sources too.
import "../../bin/holdfast.js";
