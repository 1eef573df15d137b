import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { outerPath, withOuterPath } from "../../src/process/which.js";
import { temporaryFolder } from "../kit.js";

it.each([
  ["/usr/bin:/bin", "/usr/bin:/bin"],
  ["/w/node_modules/.bin:/usr/bin", "/usr/bin"],
  ["/w:/bin", "/bin"],
  ["/w2/bin:/bin", "/w2/bin:/bin"],
  [".:./bin::/bin:node_modules/.bin", "/bin"],
  ["", "/usr/local/bin:/usr/bin:/bin"],
  ["/w/bin:bin", "/usr/local/bin:/usr/bin:/bin"],
])("of %j, programs outside of /w are in %j", (path, expected) => {
  expect(outerPath(path, "/w")).toBe(expected);
});

it("links into the workspace are in it, by whichever name it is called", () => {
  const root = temporaryFolder();
  const [workspace, link, bin] = ["project", "link", "bin"].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(join(workspace, "tools"), { recursive: true });
  symlinkSync(workspace, link);
  symlinkSync(join(workspace, "tools"), bin);
  const path = `${join(link, "x")}:${join(workspace, "x")}:${bin}:/bin`;
  expect([outerPath(path, workspace), outerPath(`${bin}:/bin`, link)]).toEqual([
    `${join(link, "x")}:/bin`,
    "/bin",
  ]);
});

it("an environment without PATH stays as it is", () => {
  expect(withOuterPath({ A: "b" }, "/w")).toEqual({ A: "b" });
});
