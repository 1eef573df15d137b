import { afterEach } from "vitest";
import { cleanUp } from "./kit.js";

afterEach(cleanUp);
