import { describe, expect, it } from "vitest";
import { javascriptTests } from "../../../../src/recipes/pipeline/gates/tests/javascript.js";
import { pythonTests } from "../../../../src/recipes/pipeline/gates/tests/python.js";
import { goTests, rustTests } from "../../../../src/recipes/pipeline/gates/tests/rust-and-go.js";
import type { TestBlock } from "../../../../src/recipes/pipeline/gates/tests/test-block.js";

const brief = (tests: TestBlock[]) =>
  tests.map(
    ({ name, line, asserts, skipped }) =>
      `${line} ${name}${asserts ? " asserts" : ""}${skipped ? ` ${skipped}` : ""}`,
  );

describe("the tests in a file", () => {
  it.each([
    ["a test that asserts", 'test("a", () => { assert.equal(f(), 1); });', ["1 a asserts"]],
    ["expect", "it('a', async () => {\n  await expect(f()).resolves.toBe(1);\n});", ["1 a asserts"]],
    ["an empty test", 'test("a", () => {});', ["1 a"]],
    ["an assertion in a comment", 'test("a", () => {\n  // assert(f())\n});', ["1 a"]],
    ["an assertion in a text", 'test("a", () => { log("expect(x)"); });', ["1 a"]],
    ["true that is true", 'test("a", () => { expect(true).toBe(true); assert.ok(1); });', ["1 a"]],
    ["a skipped test", 'it.skip("a", () => { assert(f()); });', ["1 a asserts skipped"]],
    ["a test to be written", 'test.todo("a");', ["1 a skipped"]],
    ["an option", 'test("a", { skip: true }, () => { assert(f()); });', ["1 a asserts skipped"]],
    [
      "a skipped group",
      'describe.skip("g", () => { it("a", () => { assert(f()); }); });',
      ["1 a asserts skipped"],
    ],
    ["a table", 'it.each([[1, 2]])("a %i", (x) => { expect(x).toBe(1); });', ["1 a %i asserts"]],
    [
      "brackets in texts",
      'test("a )", () => { const r = /[)"]/; assert.match(")", r); });',
      ["1 a ) asserts"],
    ],
    [
      "a title that is no text",
      "for (const c of CASES) test(c.name, () => { assert(f(c)); });",
      ["1 c.name asserts"],
    ],
    [
      "assertions of node under their own names",
      'import { equal, ok as yes } from "node:assert/strict";\ntest("a", () => { equal(f(), 1); });\ntest("b", () => { yes(f()); });\ntest("c", () => { ok(f()); });',
      ["2 a asserts", "3 b asserts", "4 c"],
    ],
    [
      "assertions that are required",
      'const { match } = require("assert");\ntest("a", () => { match(f(), /x/); });',
      ["2 a asserts"],
    ],
    ["a test that skips itself", 'test("a", (t) => { t.skip(); assert(f()); });', ["1 a asserts skipped"]],
    [
      "a test that skips itself elsewhere",
      'test("a", (t) => { if (process.platform === "win32") t.skip(); assert(f()); });',
      ["1 a asserts"],
    ],
    [
      "one option of several",
      'test("a", { timeout: 5, skip: "later" }, () => { assert(f()); });',
      ["1 a asserts skipped"],
    ],
    ["an option that is off", 'test("a", { skip: false }, () => { assert(f()); });', ["1 a asserts"]],
    [
      "a group with the option",
      'describe("g", { skip: true }, () => { it("a", () => { assert(f()); }); });',
      ["1 a asserts skipped"],
    ],
    ["an assertion behind a return", 'test("a", () => { return; assert(f()); });', ["1 a"]],
    [
      "a return in a line of its own",
      'test("a", () => {\n  g()\n  return\n  expect(f()).toBe(1)\n})',
      ["1 a"],
    ],
    ["a return of it", 'test("a", () => {\n  return get("/")\n    .expect(200)\n})', ["1 a asserts"]],
    ["a return on a condition", 'test("a", () => { if (x) return; assert(f()); });', ["1 a asserts"]],
    [
      "a return elsewhere",
      'test("a", () => { xs.map((x) => { return x }); assert(f()); });',
      ["1 a asserts"],
    ],
    ["code that is off", 'test("a", () => { if (false) { assert(f()); } });', ["1 a"]],
    ["a failure that is caught", 'test("a", () => { try { assert(f()); } catch (e) { log(e) } });', ["1 a"]],
    [
      "one that is thrown on",
      'test("a", () => { try { assert(f()); } catch (e) { throw e } });',
      ["1 a asserts"],
    ],
    [
      "a promise whose failure is dropped",
      'test("a", () => f().then((x) => { expect(x).toBe(1) }).catch(() => {}));',
      ["1 a"],
    ],
    ["throw", 'test("a", () => { if (f() !== 1) throw new Error("x"); });', ["1 a asserts"]],
    ["done with an error", 'it("a", (done) => { f((err) => done(err)); });', ["1 a asserts"]],
    ["done without one", 'it("a", (done) => { f(() => done()); });', ["1 a"]],
    [
      "a table in a template",
      'test.each`\n  a | b\n  \u0024{1} | \u0024{2}\n`("adds $a", ({ a, b }) => { expect(a).toBe(b) });',
      ["1 adds $a asserts"],
    ],
    [
      "a group with a table in a template",
      'describe.each`x\n\u0024{1}`("g", () => { it("a", () => { expect(f()).toBe(1) }) })',
      ["2 a asserts"],
    ],
    [
      "a helper that asserts",
      'const same = (a, b) => expect(a).toBe(b);\ntest("a", () => { same(f(), 1) });',
      ["2 a asserts"],
    ],
    ["a helper that does not", 'function check(a) { log(a) }\ntest("a", () => { check(f()) });', ["2 a"]],
    [
      "a method that asserts",
      'class S { _check() { assert(this.x) } }\ntest("a", () => { s._check() });',
      ["2 a asserts"],
    ],
    [
      "a test that has to fail",
      'test.failing("a", () => { assert(f()); });',
      ["1 a asserts expected to fail"],
    ],
    [
      "a hook that skips",
      'describe("g", () => { before(function () { this.skip(); }); it("a", () => { assert(f()) }) })',
      ["1 a asserts skipped"],
    ],
    ["a regular expression's test", "if (/x/.test(y)) { run(); }", []],
    ["several", 'test("a", () => {\n});\n\ntest("b", (t) => { t.is(1, f()); });', ["1 a", "4 b asserts"]],
  ])("JavaScript: %s", (_, text, expected) => {
    expect(brief(javascriptTests(text))).toEqual(expected);
  });

  it.each([
    ["assert", "def test_a():\n    assert f() == 1\n", ["1 test_a asserts"]],
    ["nothing", "def test_a():\n    f()\n\nx = 1\nassert x\n", ["1 test_a"]],
    ["a docstring", 'def test_a():\n    """assert this"""\n    pass\n', ["1 test_a"]],
    ["True", "def test_a():\n    assert True\n", ["1 test_a"]],
    [
      "unittest",
      "class T(TestCase):\n    def test_a(self):\n        self.assertEqual(f(), 1)\n",
      ["2 test_a asserts"],
    ],
    ["raises", "def test_a():\n    with pytest.raises(ValueError):\n        f()\n", ["1 test_a asserts"]],
    ["raises alone", "def test_a():\n    with raises(ValueError):\n        f()\n", ["1 test_a asserts"]],
    [
      "a class that is skipped",
      '@unittest.skip("x")\nclass T(TestCase):\n    def test_a(self):\n        self.assertEqual(f(), 1)\n',
      ["3 test_a asserts skipped"],
    ],
    [
      "a file that is skipped",
      "pytestmark = pytest.mark.skip\n\ndef test_a():\n    assert f()\n",
      ["3 test_a asserts skipped"],
    ],
    [
      "a test that skips itself",
      'def test_a():\n    pytest.skip("later")\n    assert f()\n',
      ["1 test_a asserts skipped"],
    ],
    [
      "a test that skips itself elsewhere",
      'def test_a():\n    if WINDOWS:\n        pytest.skip("x")\n    assert f()\n',
      ["1 test_a asserts"],
    ],
    ["xfail", "@pytest.mark.xfail\ndef test_a():\n    assert f()\n", ["2 test_a asserts expected to fail"]],
    [
      "xfail over several lines",
      "@pytest.mark.xfail(\n    strict=True,\n)\ndef test_a():\n    assert f()\n",
      ["4 test_a asserts expected to fail"],
    ],
    [
      "xfail on a condition",
      '@pytest.mark.xfail(sys.platform == "win32", reason="x")\ndef test_a():\n    assert f()\n',
      ["2 test_a asserts"],
    ],
    [
      "xfail inside",
      'def test_a():\n    pytest.xfail("x")\n    assert f()\n',
      ["1 test_a asserts expected to fail"],
    ],
    [
      "expectedFailure",
      "class T(TestCase):\n    @unittest.expectedFailure\n    def test_a(self):\n        self.assertEqual(f(), 1)\n",
      ["3 test_a asserts expected to fail"],
    ],
    [
      "a file with several marks",
      'pytestmark = [\n    pytest.mark.slow,\n    pytest.mark.skip(reason="x"),\n]\n\ndef test_a():\n    assert f()\n',
      ["6 test_a asserts skipped"],
    ],
    [
      "a file that skips itself",
      'pytest.skip("x", allow_module_level=True)\n\ndef test_a():\n    assert f()\n',
      ["3 test_a asserts skipped"],
    ],
    [
      "a class with a mark",
      "class TestA:\n    pytestmark = pytest.mark.skip\n    def test_a(self):\n        assert f()\n\nclass TestB:\n    def test_b(self):\n        assert f()\n",
      ["3 test_a asserts skipped", "7 test_b asserts"],
    ],
    [
      "a class that skips itself",
      'class T(TestCase):\n    def setUp(self):\n        self.skipTest("x")\n    def test_a(self):\n        self.assertEqual(f(), 1)\n',
      ["4 test_a asserts skipped"],
    ],
    ["an assertion behind a return", "def test_a():\n    return\n    assert f()\n", ["1 test_a"]],
    [
      "a return on a condition",
      "def test_a():\n    if x:\n        return\n    assert f()\n",
      ["1 test_a asserts"],
    ],
    [
      "a failure that is caught",
      "def test_a():\n    try:\n        assert f()\n    except Exception:\n        pass\n",
      ["1 test_a"],
    ],
    [
      "another error that is caught",
      "def test_a():\n    try:\n        assert f()\n    except ValueError:\n        pass\n",
      ["1 test_a asserts"],
    ],
    [
      "one that is raised again",
      "def test_a():\n    try:\n        assert f()\n    except AssertionError:\n        raise\n",
      ["1 test_a asserts"],
    ],
    ["suppress", "def test_a():\n    with suppress(AssertionError):\n        assert f()\n", ["1 test_a"]],
    [
      "a method that asserts",
      "class T(TestCase):\n    def _check(self, x):\n        self.assertEqual(x, 1)\n    def test_a(self):\n        self._check(f())\n",
      ["4 test_a asserts"],
    ],
    [
      "a method that does not",
      "class T(TestCase):\n    def _check(self, x):\n        print(x)\n    def test_a(self):\n        self._check(f())\n",
      ["4 test_a"],
    ],
    [
      "a method of elsewhere",
      "class T(Base):\n    def test_a(self):\n        self._check(f())\n",
      ["2 test_a asserts"],
    ],
    ["a mark", "@pytest.mark.skip\ndef test_a():\n    assert f()\n", ["2 test_a asserts skipped"]],
  ])("Python: %s", (_, text, expected) => {
    expect(brief(pythonTests(text))).toEqual(expected);
  });

  it("Rust and Go", () => {
    const rust = "#[test]\nfn a() { assert_eq!(f(), 1); }\n#[test]\n#[ignore]\nfn b() { f(); }\n";
    expect(brief(rustTests(rust))).toEqual(["1 a asserts", "3 b skipped"]);
    const others =
      "#[test]\nfn a() -> Result<(), E> { f()?; Ok(()) }\n#[ignore]\n#[test]\nfn b() { assert!(f()); }\n";
    expect(brief(rustTests(others))).toEqual(["1 a asserts", "4 b asserts skipped"]);
    const go =
      'func TestA(t *testing.T) {\n\tif f() != 1 { t.Error("{") }\n}\nfunc TestB(t *testing.T) { f() }\n';
    expect(brief(goTests(go))).toEqual(["1 TestA asserts", "4 TestB"]);
  });

  it.each([
    ["t.Skip()\n\tt.Error()", "asserts skipped"],
    ["if testing.Short() {\n\t\tt.Skip()\n\t}\n\tt.Error()", "asserts"],
    ["return\n\tt.Error()", ""],
    ["same(t, f())", "asserts"],
  ])("Go: %j", (body, expected) => {
    const helper = "func same(t *testing.T, a int) { if a != 1 { t.Fatal() } }\n";
    const [test] = brief(goTests(`${helper}func TestA(t *testing.T) {\n\t${body}\n}\n`));
    expect(test).toBe(`2 TestA ${expected}`.trim());
  });

  it("Go: a main function that runs no test", () => {
    const test = 'func TestA(t *testing.T) { t.Error("x") }\n';
    expect(brief(goTests(`func TestMain(m *testing.M) { os.Exit(0) }\n${test}`))).toEqual([
      "2 TestA asserts skipped",
    ]);
    expect(brief(goTests(`func TestMain(m *testing.M) { os.Exit(m.Run()) }\n${test}`))).toEqual([
      "2 TestA asserts",
    ]);
  });

  it.each([
    ["return; assert!(f());", ""],
    ["assert!(true);", ""],
    ["let _ = std::panic::catch_unwind(|| { assert!(f()); });", ""],
    ["same(f());", " asserts"],
  ])("Rust: %j", (body, expected) => {
    const helper = "fn same(a: i32) { assert_eq!(a, 1); }\n";
    expect(brief(rustTests(`${helper}#[test]\nfn a() { ${body} }\n`))).toEqual([`2 a${expected}`]);
  });
});
