import { describe, expect, it } from "vitest";
import { LANGUAGES, testsIn } from "../../../../src/recipes/pipeline/gates/languages.js";

/** `2 a asserts skipped, 5 b`: lines, names, and what each test is. */
const brief = (language: keyof typeof LANGUAGES, text: string): string =>
  testsIn(text, LANGUAGES[language])
    .map(({ name, line, asserts, skipped }) => [
      line,
      name,
      ...(asserts ? ["asserts"] : []),
      ...(skipped ? ["skipped"] : []),
    ])
    .map((words) => words.join(" "))
    .join(", ");

describe("what a test does in JavaScript", () => {
  const inTest = (body: string): string => `test("a", (t) => { ${body} });`;

  it.each([
    ["1 a asserts", inTest("assert.equal(f(), 1);")],
    ["1 a", inTest("\n// assert(f())\n")],
    ["1 a", inTest('log("expect(x)");')],
    ["1 a", inTest("expect(true).toBe(true); assert.ok(1);")],
    ["1 a %i asserts", 'it.each([[1, 2]])("a %i", (x) => { expect(x).toBe(1); });'],
    [
      "1 adds $a asserts",
      'test.each`\n  a | b\n  \u0024{1} | \u0024{2}\n`("adds $a", ({ a, b }) => { expect(a).toBe(b) });',
    ],
    ["1 a ) asserts", 'test("a )", () => { const r = /[)"]/; assert.match(")", r); });'],
    ["2 a asserts", 'import { equal } from "node:assert/strict";\ntest("a", () => { equal(f(), 1); });'],
    ["1 a asserts", 'test("a", () => {\n  return get("/")\n    .expect(200)\n})'],
    ["1 a asserts", inTest("if (x) return; assert(f());")],
    ["1 a asserts", inTest('if (f() !== 1) throw new Error("x");')],
    ["1 a asserts", 'it("a", (done) => { f((err) => done(err)); });'],
    ["2 a asserts", 'const same = (a, b) => expect(a).toBe(b);\ntest("a", () => { same(f(), 1) });'],
    ["1 a asserts, 4 b", 'test("a", (t) => { t.is(1, f()); });\n\n\ntest("b", () => {\n});'],
    ["", "if (/x/.test(y)) { run(); }"],
  ])("%s: %j", (expected, text) => {
    expect(brief("javascript", text)).toBe(expected);
  });

  it.each([
    ["skipped", 'it.skip("a", () => { assert(f()); });'],
    ["skipped", 'test("a", { skip: true }, () => { assert(f()); });'],
    ["", 'test("a", { skip: false }, () => { assert(f()); });'],
    ["skipped", 'describe.skip("g", () => { it("a", () => { assert(f()); }); });'],
    ["skipped", inTest("t.skip(); assert(f());")],
    ["", inTest('if (process.platform === "win32") t.skip(); assert(f());')],
    ["skipped", 'test.failing("a", () => { assert(f()); });'],
  ])("it is %j: %s", (expected, text) => {
    expect(brief("javascript", text)).toBe(`1 a asserts ${expected}`.trim());
  });

  it("a test to be written is skipped, and asserts nothing", () => {
    expect(brief("javascript", 'test.todo("a");')).toBe("1 a skipped");
  });
});

describe("what a test does in Python", () => {
  const inClass = (body: string): string => `class T(TestCase):\n${body.replace(/^/gm, "    ")}\n`;
  const inTest = (...lines: string[]): string =>
    ["def test_a():", ...lines.map((line) => `    ${line}`), ""].join("\n");

  it.each([
    ["1 test_a asserts", inTest("assert f() == 1")],
    ["1 test_a", `${inTest("f()")}\nx = 1\nassert x\n`],
    ["1 test_a", inTest("assert True")],
    ["1 test_a asserts", inTest("assert (f(), 2) == g()")],
    ["2 test_a asserts", inClass("def test_a(self):\n    self.assertEqual(f(), 1)")],
    ["1 test_a asserts", inTest("with pytest.raises(ValueError):", "    f()")],
    ["1 test_a asserts", inTest("if x:", "    return", "assert f()")],
    ["1 test_a asserts", inTest("try:", "    assert f()", "except ValueError:", "    pass")],
    ["1 test_a, 3 test_b asserts", `${inTest("f()")}def test_b():\n    assert f()\n`],
    [
      "4 test_a asserts",
      inClass("def _check(self, x):\n    self.assertEqual(x, 1)\ndef test_a(self):\n    self._check(f())"),
    ],
    ["2 test_a asserts", inClass("def test_a(self):\n    self._check(f())")],
  ])("%s: %j", (expected, text) => {
    expect(brief("python", text)).toBe(expected);
  });

  const TEST = inTest("assert f()");

  it.each([
    ["1 test_a asserts skipped", inTest('pytest.skip("later")', "assert f()")],
    ["1 test_a asserts", inTest("if WINDOWS:", '    pytest.skip("x")', "assert f()")],
    ["2 test_a asserts skipped", `@pytest.mark.skip\n${TEST}`],
    ["3 test_a asserts skipped", `@unittest.skip("x")\n${inClass(TEST)}`],
    ["2 test_a asserts skipped", `@pytest.mark.xfail\n${TEST}`],
    ["4 test_a asserts skipped", `@pytest.mark.xfail(\n    strict=True,\n)\n${TEST}`],
    ["2 test_a asserts", `@pytest.mark.xfail(sys.platform == "win32", reason="x")\n${TEST}`],
    ["3 test_a asserts skipped", inClass(`@unittest.expectedFailure\n${TEST}`)],
    ["2 test_a asserts skipped", `pytestmark = pytest.mark.skip\n${TEST}`],
    [
      "5 test_a asserts skipped",
      `pytestmark = [\n    pytest.mark.slow,\n    pytest.mark.skip(reason="x"),\n]\n${TEST}`,
    ],
    ["2 test_a asserts skipped", `pytest.skip("x", allow_module_level=True)\n${TEST}`],
  ])("%s: %j", (expected, text) => {
    expect(brief("python", text)).toBe(expected);
  });
});

describe("what a test does in Rust and Go", () => {
  it.each([
    ["2 a asserts", "assert_eq!(f(), 1);"],
    ["2 a", "assert!(true);"],
  ])("Rust, %s: %j", (expected, body) => {
    expect(brief("rust", `fn same(a: i32) { assert_eq!(a, 1); }\n#[test]\nfn a() { ${body} }\n`)).toBe(
      expected,
    );
  });

  it("Rust: attributes on both sides, and results", () => {
    const result = "#[test]\nfn a() -> Result<(), E> { f()?; Ok(()) }\n";
    const text = `${result}#[ignore]\n#[test]\nfn b() { assert!(f()); }\n#[test]\n#[ignore]\nfn c() { f(); }\n`;
    expect(brief("rust", text)).toBe("1 a asserts, 4 b asserts skipped, 6 c skipped");
  });

  it.each([
    ["2 TestA asserts", 'if f() != 1 { t.Error("{") }'],
    ["2 TestA", "f()"],
    ["2 TestA asserts skipped", "t.Skip()\n\tt.Error()"],
    ["2 TestA asserts", "if testing.Short() {\n\t\tt.Skip()\n\t}\n\tt.Error()"],
  ])("Go, %s: %j", (expected, body) => {
    const helper = "func same(t *testing.T, a int) { if a != 1 { t.Fatal() } }\n";
    expect(brief("go", `${helper}func TestA(t *testing.T) {\n\t${body}\n}\n`)).toBe(expected);
  });
});
