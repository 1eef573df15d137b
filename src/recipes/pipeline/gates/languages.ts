/** Why a test proves nothing: it is not run, or its failure does not count. */
export type Skipped = "skipped" | "expected to fail";

/** How tests are written in a language. All patterns but `literals` see the code without its comments and texts. */
export interface Language {
  files: RegExp;
  /** Comments, texts that are comments, and other texts. */
  literals: RegExp;
  /** Blocks are told by their indentation: `⦃` stands for the colon in front of them. */
  indented?: true;
  /** Tests and groups that are calls with a title. */
  calls?: RegExp;
  /** Tests and groups that are functions and classes with a name, the first group. */
  tests?: RegExp;
  groups?: RegExp;
  /** Functions that tests may call, by name, and methods. */
  functions: RegExp[];
  methods?: RegExp;
  /** Lines above a test that belong to it. */
  above: RegExp;
  /** What asserts by itself. */
  asserts: RegExp;
  /** A call whose name, the first group, says that it asserts. */
  named: RegExp;
  /** Where the names of assertions are brought in: a list is the first group. */
  imports?: RegExp;
  /** Holds whatever the code does. */
  trivial?: RegExp;
  /** A call that asserts nothing, by what stands in its brackets and behind them. */
  empty?: { call: RegExp; isEmpty(inside: string, behind: string): boolean };
  /** Heads of blocks and statements that never run, or whose failures nobody sees. */
  never: RegExp;
  /** The end of a statement whose failure nobody sees. */
  dropped?: RegExp;
  /** Handlers of failures: how one begins, whether it takes assertions, and what it does so that they are seen. */
  handlers?: { head: RegExp; takes: RegExp; tells: RegExp };
  /** What skips tests, or makes their failures count for nothing. */
  skips: Partial<Record<Skipped, Skips>>;
}

interface Skips {
  /** In front of a test or its group. */
  above?: RegExp;
  /** Among the statements of a test that always run. */
  body?: RegExp;
  /** Anywhere in the group or the file. */
  scope?: RegExp;
}

const JAVASCRIPT: Language = {
  files: /\.[cm]?[jt]sx?$/,
  // A regular expression stands where a value may begin.
  literals:
    /(?<comment>\/\/[^\n]*|\/\*[\s\S]*?\*\/)|"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'|`(?:[^`\\]|\\[\s\S])*`|(?<=[(,=:[!&|?{};]\s*|\breturn\s+)\/(?![/*])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/g,
  calls: /(?<![\w.$]|function\s)(?:t\.)?(x?(?:test|it|describe|suite|context))((?:\.\w+)*)\s*(?=[(`])/g,
  functions: [
    /(?<![(,]\s*(?:async\s+)?)\bfunction\s*\*?\s*([\w$]+)\s*(?=\()/g,
    /\b(?:const|let|var)\s+([\w$]+)\s*=\s*(?:async\s*)?(?:function\b[^(]*)?(?=\(|[\w$]+\s*=>)/g,
  ],
  methods:
    /^[ \t]*(?:(?:async|static|private|public|protected)\s+)*(?!(?:if|for|while|switch|catch|function|return|test|it|describe)\b)([\w$#]+)\s*(?=\([^()]*\)\s*(?::[^{;]*)?\{)/gm,
  above: /^\s*(?:\/\/|\/?\*)/,
  asserts:
    /\b(?:assert|expect|should)\s*[.(]|\b(?:strictEqual|deepEqual|deepStrictEqual|notEqual|rejects|throws)\s*[.(]|\bt\.(?:is|not|ok|equals?|same|true|false|truthy|falsy|like|deepEqual|throws|throwsAsync|pass|fail|assert|snapshot|regex)\b|\.should\b|\bthrow\b|\bdone\s*\(\s*[^\s)]|\bdone\.fail\b/,
  named: /(?<![\w$])(_?(?:check|verify|ensure|must|assert|expect|should)\w*)\s*[.(]/g,
  imports:
    /\b(?:import|const|let|var)\s+([\w\s{},:$*]{1,2000}?)\s*(?:from\s*|=\s*require\(\s*)["'](?:node:)?assert(?:\/strict)?["']/g,
  trivial:
    /\bexpect\(\s*(?:true|1|!0)\s*\)\.\w+\(\s*(?:true|1)?\s*\)|\bassert(?:\.\w+)?\(\s*(true|1|!0)\s*(?:,\s*\1\s*)?(?:,[^)]*)?\)/g,
  // Without a matcher nothing is compared.
  empty: { call: /(?<![.\w$])expect\s*(?=\()/g, isEmpty: (_, behind) => !/^\s*[.[]/.test(behind) },
  never: /\b(?:if|while)\s*\(\s*(?:false|0)\s*\)\s*|(?<![\w$.])false\s*&&\s*/g,
  dropped:
    /\.catch\(\s*(?:\(\s*\w*\s*\)|\w+|function\s*\(\s*\w*\s*\))\s*(?:=>)?\s*(?:\{\s*\}|null|undefined)\s*\)/g,
  handlers: {
    head: /^\s*catch\s*(?:\([^)]*\)\s*)?(?=\{)/,
    takes: /^/,
    tells: /\b(?:throw|done|fail\w*|reject\w*)\b|\b(?:assert|expect|should)\w*|\bt\.\w+\(/,
  },
  skips: {
    skipped: {
      body: /\b(?:(?:t|ctx|context|this)\.(?:skip|todo)\(|(?:test|it)\.(?:skip|fixme)\(\s*(?:\)|true\b|["'`]))/g,
      scope:
        /^(?:test|it)\.(?:skip|fixme)\(\s*(?:\)|true\b|1\b)|\bbefore(?:Each|All)?\s*\(\s*(?:async\s*)?(?:function\s*\w*\([^)]*\)|\([^)]*\)\s*=>|\w+\s*=>)\s*\{\s*(?:this|t|ctx|context)\.skip\(/gm,
    },
  },
};

/** With a condition it may have its reasons. */
const UNCONDITIONAL = String.raw`\b(?!\s*\((?!\s*(?:\)|True\b|1\b|(?:reason|strict|raises|run)\s*=)))`;
const SKIP_CALL = String.raw`(?:pytest\.skip\(|self\.skipTest\(|raise (?:unittest\.)?SkipTest\b)`;
const MARKS = String.raw`^[ \t]*pytestmark[ \t]*=[ \t]*(?:\[[^\]]*?|[^\n[]*?)\bmark\.`;
const HOOK = String.raw`(?:def[ \t]+(?:setUp|setUpClass|setUpModule|setup_(?:method|class|function|module))|@(?:\w+\.)*fixture\([^)]*autouse\s*=\s*True[^)]*\)\s*(?:async[ \t]+)?def[ \t]+\w+)`;

const PYTHON: Language = {
  files: /\.py$/,
  literals:
    /(?<comment>#[^\n]*)|(?<docstring>(?<=:[ \t]*\n\s*)(?:"""[\s\S]*?"""|'''[\s\S]*?'''))|"""(?:[^\\]|\\[\s\S])*?"""|'''(?:[^\\]|\\[\s\S])*?'''|"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'/g,
  indented: true,
  tests: /^[ \t]*(?:async[ \t]+)?def[ \t]+(test\w*)[ \t]*(?=\()/gm,
  groups: /^[ \t]*class[ \t]+(\w+)/gm,
  functions: [/^[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)[ \t]*(?=\((?!\s*(?:self|cls)\b))/gm],
  methods: /^[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)[ \t]*(?=\(\s*(?:self|cls)\b)/gm,
  above: /^\s*[@#]/,
  asserts:
    /\bassert\b|\bpytest\.fail\b|\b(?:raises|warns)\s*\(|\.assert_\w+|\bself\.(?:assert[A-Z]\w*|fail\s*\()|\braise\s+AssertionError\b/,
  named: /(?<!\w)(_*(?:check|verify|expect|ensure|assert|fail)\w*)\s*\(/g,
  trivial:
    /\bassert[ \t]+(?:True|1|1[ \t]*==[ \t]*1)[ \t]*(?:,[^\n]*)?(?=\n|$)|\bself\.assertTrue\(\s*True\s*\)/g,
  // A tuple with something in it is true.
  empty: {
    call: /\bassert\s*(?=\()/g,
    isEmpty: (inside, behind) =>
      /^(?:[^,()[\]{}]|\([^()]*\)|\[[^[\]]*\])+,/.test(inside) && /^[ \t]*(?:$|[\n;])/.test(behind),
  },
  never:
    /\b(?:if|while)\s+\(?(?:False|0)\)?\s*(?=⦃)|\bwith\s[^⦃\n]*\bsuppress\([^⦃\n]*(?:Exception|AssertionError)\b[^⦃\n]*(?=⦃)/g,
  handlers: {
    head: /^\s*except\b[^⦃]*(?=⦃)/,
    takes: /^\s*except\s*(?:$|.*\b(?:Exception|BaseException|AssertionError)\b)/,
    tells: /\braise\b|\bassert|\bfail\w*\s*\(|\.append\(/i,
  },
  skips: {
    skipped: {
      above: /^\s*@(?:\w+\.)*(?:skip\b|skip[iI]f\(\s*(?:True|1)\b|skipUnless\(\s*(?:False|0)\b)/m,
      body: new RegExp(SKIP_CALL, "g"),
      scope: new RegExp(
        [
          `${MARKS}(?:skip\\b|skipif\\(\\s*(?:True|1)\\b)`,
          "^[ \\t]*__test__[ \\t]*=[ \\t]*False",
          `^${SKIP_CALL}`,
          `${HOOK}\\([^)]*\\)[^⦃]*⦃\\s*(?:["'][ \\n]*["']\\s*)?${SKIP_CALL}`,
        ].join("|"),
        "gm",
      ),
    },
    "expected to fail": {
      above: new RegExp(`^\\s*@(?:\\w+\\.)*(?:expectedFailure\\b|xfail${UNCONDITIONAL})`, "m"),
      body: /\bpytest\.xfail\(/g,
      scope: new RegExp(`${MARKS}xfail${UNCONDITIONAL}`, "gm"),
    },
  },
};

const RUST: Language = {
  files: /\.rs$/,
  literals:
    /(?<comment>\/\/[^\n]*|\/\*[\s\S]*?\*\/)|r#"[\s\S]*?"#|"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\\n]|\\[^\n]{1,8})'/g,
  tests: /#\[(?:\w+::)?test\b[^\]]*\][\s\S]*?\bfn\s+(\w+)/g,
  functions: [/\bfn\s+(\w+)/g],
  above: /^\s*(?:\/\/|#\[)/,
  asserts:
    /\b\w*assert\w*!|\bpanic!|should_panic|\.unwrap_err\(|\.expect_err\(|->\s*[\w:]*Result\b[\s\S]*\?\s*[;.,)}]/,
  named: /\b((?:check|verify|assert)\w*)\(/g,
  trivial: /\bassert(?:_eq)?!\(\s*(?:true|1\s*,\s*1)\s*(?:,[^)]*)?\)/g,
  never: /\bif\s+false\s*(?=\{)|\blet\s+_\s*=\s*(?:std::)?(?:panic::)?catch_unwind\s*(?=\()/g,
  skips: { skipped: { above: /#\[ignore\b/, scope: /^#!\[cfg\((?:any\(\)|not\(test\))\)\]/gm } },
};

const GO: Language = {
  files: /\.go$/,
  literals:
    /(?<comment>\/\/(?!go:build)[^\n]*|\/\*[\s\S]*?\*\/)|"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[^\n]{1,8})'|`[^`]*`/g,
  tests: /^func\s+(Test(?!Main\b)\w+)\s*(?=\()/gm,
  functions: [/^func\s+(?:\([^)]*\)\s*)?(\w+)/gm, /\b(\w+)\s*:=\s*func\s*(?=\()/g],
  above: /^\s*\/\//,
  asserts: /\bt\.(?:Error|Fatal|Fail)\w*\(|\b(?:assert|require|is|qt)\.\w+\(/i,
  named: /\b((?:check|verify|assert|must)\w*)\(/gi,
  never: /\bif\s+false\s*(?=\{)/g,
  skips: {
    skipped: {
      body: /\bt\.Skip(?:f|Now)?\(/g,
      scope: /^\/\/go:build\s+(?:ignore|never|false)\b|^func\s+TestMain\b(?![\s\S]*?\bm\.Run\()/gm,
    },
  },
};

export const LANGUAGES = { javascript: JAVASCRIPT, python: PYTHON, rust: RUST, go: GO } satisfies Record<
  string,
  Language
>;
