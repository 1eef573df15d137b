import { dirname } from "node:path";

/** Where ralph itself is. */
export const PACKAGE_FOLDER = dirname(__dirname);
