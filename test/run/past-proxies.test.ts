import { expect, test } from "vitest";
import { pastProxies } from "../../src/run/hooks.js";

const PROXY = "http://proxy.example.invalid:3128";

test.each<[string, NodeJS.ProcessEnv, string | undefined]>([
  ["nothing without a proxy", { NO_PROXY: "a" }, undefined],
  ["an empty proxy is none", { HTTP_PROXY: "" }, undefined],
  ["this machine", { HTTP_PROXY: PROXY }, "127.0.0.1"],
  ["what the user has", { https_proxy: PROXY, NO_PROXY: "a, b", no_proxy: "b,c" }, "a,b,c,127.0.0.1"],
  ["what is there already", { ALL_PROXY: PROXY, no_proxy: "127.0.0.1,a" }, "127.0.0.1,a"],
])("goes past a proxy: %s", (_, env, list) => {
  expect(pastProxies(env)).toEqual(list === undefined ? {} : { NO_PROXY: list, no_proxy: list });
});
