/** How tests are written in a language. All patterns but `literals` and `above` see code whose strings are blank. */
export interface Language {
  files: RegExp;
  /** Comments, strings that are comments, and other strings. */
  literals: RegExp;
  /** Where a test begins; `name` is a group unless the test is a call with a title. */
  tests: RegExp;
  groups?: RegExp;
  functions: RegExp;
  /** Where the head of each of them ends. */
  body: RegExp;
  /** A line above a test that belongs to it. */
  above: RegExp;
  asserts: RegExp;
  /** Assertions that hold whatever the code does. */
  trivial?: RegExp;
  /** Tested against the head of a test and of its groups: it is skipped, or its failure does not count. */
  skipped: RegExp;
  skipsFirst?: RegExp;
  skipsFile?: RegExp;
}

const JAVASCRIPT: Language = {
  files: /\.[cm]?[jt]sx?$/,
  // A regular expression stands where a value may begin.
  literals:
    /(?<comment>\/\/[^\n]*|\/\*[\s\S]*?\*\/)|"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'|`(?:[^`\\]|\\[\s\S])*`|(?<=[(,=:[!&|?{};]\s*|\breturn\s+)\/(?![/*])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/g,
  tests: /(?<![\w.$]|function\s)(?:t\.)?x?(?:test|it)(?:\.(?!describe)\w+)*\s*(?:`[^`]*`\s*)?(?=\()/g,
  groups:
    /(?<![\w.$]|function\s)(?:t\.)?(?:test\.)?x?(?:describe|suite|context)(?:\.\w+)*\s*(?:`[^`]*`\s*)?(?=\()/g,
  functions:
    /\bfunction\s*\*?\s*(?<name>[\w$]+)\s*(?=\()|\b(?:const|let|var)\s+(?<arrow>[\w$]+)\s*=\s*(?:async\s*)?(?=\(|function\b|[\w$]+\s*=>)/g,
  body: /=>|\bfunction\b/,
  above: /^\s*(?:\/\/|\/?\*)/,
  asserts:
    /\b_?(?:assert|expect|should|check|verify|ensure|must)\w*\s*[.(]|(?<![.\w$])(?:ok|match|throws|rejects|(?:not)?(?:deep|strict|deepStrict)?[eE]qual)\s*\(|\bt\.(?:is|not|ok|equals?|same|true|false|truthy|falsy|like|deepEqual|throws|throwsAsync|pass|fail|assert|snapshot|regex)\b|\.should\b|\bthrow\b|\bdone\s*\(\s*[^\s)]|\bdone\.fail\b/,
  trivial:
    /\bexpect\(\s*(?:true|1|!0)\s*\)\.\w+\(\s*(?:true|1)?\s*\)|\bassert(?:\.\w+)?\(\s*(true|1|!0)\s*(?:,\s*\1\s*)?(?:,[^)]*)?\)/g,
  skipped:
    /^\s*(?:t\.)?(?:test\.)?x(?:test|it|describe)|\.(?:skip|todo|fixme)\b|\{[^{}]*\b(?:skip|todo)\s*:(?!\s*(?:false|undefined|null)\b)|\.(?:failing|fails|fail)\b/m,
  skipsFirst: /^(?:t|ctx|context|this|test|it)\.(?:skip|todo|fixme)\(/,
};

const PYTHON: Language = {
  files: /\.py$/,
  literals:
    /(?<comment>#[^\n]*|(?<=:[ \t]*\n\s*)(?:"""[\s\S]*?"""|'''[\s\S]*?'''))|"""(?:[^\\]|\\[\s\S])*?"""|'''(?:[^\\]|\\[\s\S])*?'''|"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'/g,
  tests: /^[ \t]*(?:async[ \t]+)?def[ \t]+(?<name>test\w*)[ \t]*(?=\()/gm,
  groups: /^[ \t]*class[ \t]+(?<name>\w+)/gm,
  functions: /^[ \t]*(?:async[ \t]+)?def[ \t]+(?<name>\w+)[ \t]*(?=\()/gm,
  body: /:[ \t]*$/m,
  above: /^\s*[@#]/,
  asserts:
    /\bassert\b|\bpytest\.fail\b|\b(?:raises|warns)\s*\(|\.assert_\w+|\braise\s+AssertionError\b|(?<!\w)_*(?:check|verify|expect|ensure|assert|fail)\w*\s*\(/,
  trivial:
    /\bassert[ \t]+(?:True|1|1[ \t]*==[ \t]*1)[ \t]*(?:,[^\n]*)?(?=\n|$)|\bself\.assertTrue\(\s*True\s*\)/g,
  // With a condition it may have its reasons.
  skipped:
    /^\s*@(?:\w+\.)*(?:skip\b|expectedFailure\b|xfail\b(?!\s*\((?!\s*(?:\)|True\b|(?:reason|strict|raises|run)\s*=))))/m,
  skipsFirst: /^(?:pytest\.skip\(|self\.skipTest\(|raise (?:unittest\.)?SkipTest\b)/,
  skipsFile: /^pytestmark[ \t]*=[^\n]*(?:\n[ \t\]][^\n]*)*?\bmark\.skip\b|^pytest\.skip\(/m,
};

const RUST: Language = {
  files: /\.rs$/,
  literals:
    /(?<comment>\/\/[^\n]*|\/\*[\s\S]*?\*\/)|r#"[\s\S]*?"#|"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\\n]|\\[^\n]{1,8})'/g,
  tests: /#\[(?:\w+::)?test\b[^\]]*\][\s\S]*?\bfn\s+(?<name>\w+)/g,
  functions: /\bfn\s+(?<name>\w+)/g,
  body: /\{/,
  above: /^\s*(?:\/\/|#\[)/,
  asserts:
    /\b\w*assert\w*!|\bpanic!|should_panic|\.unwrap_err\(|\.expect_err\(|->\s*[\w:]*Result\b[\s\S]*\?\s*[;.,)}]|\b(?:check|verify|assert)\w*\(/,
  trivial: /\bassert(?:_eq)?!\(\s*(?:true|1\s*,\s*1)\s*(?:,[^)]*)?\)/g,
  skipped: /#\[ignore\b/,
};

const GO: Language = {
  files: /\.go$/,
  literals:
    /(?<comment>\/\/[^\n]*|\/\*[\s\S]*?\*\/)|"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[^\n]{1,8})'|`[^`]*`/g,
  tests: /^func\s+(?<name>Test(?!Main\b)\w+)\s*(?=\()/gm,
  functions: /^func\s+(?:\([^)]*\)\s*)?(?<name>\w+)/gm,
  body: /\{/,
  above: /^\s*\/\//,
  asserts:
    /\bt\.(?:Error|Fatal|Fail)\w*\(|\b(?:assert|require|is|qt)\.\w+\(|\b(?:check|verify|assert|must)\w*\(/i,
  skipped: /(?!)/,
  skipsFirst: /^t\.Skip(?:f|Now)?\(/,
};

export const LANGUAGES = { javascript: JAVASCRIPT, python: PYTHON, rust: RUST, go: GO } satisfies Record<
  string,
  Language
>;
