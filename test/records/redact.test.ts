import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRedactor, redactDeep } from "../../src/records/redact.js";

const VALUE = "a1b2c3d4-value/with+signs=";

describe("the names of variables", () => {
  it.each(
    `ANTHROPIC_API_KEY OPENAI_APIKEY API_KEY KEY TOKEN GH_TOKEN GITHUB_TOKEN ANTHROPIC_AUTH_TOKEN
    CLAUDE_CODE_OAUTH_TOKEN AWS_SECRET_ACCESS_KEY AWS_ACCESS_KEY_ID AWS_SESSION_TOKEN CLIENT_SECRET
    SECRET DB_PASSWORD PGPASSWORD REDIS_PASSWD GPG_PASSPHRASE AZURE_CREDENTIALS GITHUB_PAT
    SSH_PRIVATE_KEY npm_config__auth_token my_api_key`.split(/\s+/),
  )("%s is a secret", (name) => {
    expect(createRedactor({ [name]: VALUE })(`before ${VALUE} after`)).toBe("before [redacted] after");
  });

  it.each(
    `PATH HOME GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL KEYBOARD KEYMAP XKB_KEYMAP MONKEY PATTERN CLASSPATH
    TOKENIZERS_PARALLELISM CLAUDE_CODE_MAX_OUTPUT_TOKENS SECRETARY LANG TERM SSH_AUTH_SOCK COMPASS`.split(
      /\s+/,
    ),
  )("%s is none", (name) => {
    expect(createRedactor({ [name]: VALUE })(`before ${VALUE} after`)).toBe(`before ${VALUE} after`);
  });
});

describe("the values of variables", () => {
  it("are hidden everywhere, again and again", () => {
    const redact = createRedactor({ API_KEY: VALUE });
    expect(redact(`${VALUE}${VALUE} ${VALUE}`)).toBe("[redacted][redacted] [redacted]");
    expect(redact(`${VALUE}`)).toBe("[redacted]");
  });

  it.each([
    ["Java", String.raw`k1\u0026\u003cb\u003e\u003dc/\"\\d`],
    ["PHP", String.raw`k1&<b>=c\/\"\\d`],
    ["Python", String.raw`k1\u0026\u003Cb\u003E\u003Dc/\u0022\u005cd`],
  ])("are hidden as the JSON of %s has them", (_, written) => {
    const redact = createRedactor({ API_KEY: 'k1&<b>=c/"\\d' });
    expect(redact(`{"key":"${written}"}`)).toBe('{"key":"[redacted]"}');
    const other = createRedactor({ API_KEY: "pässwörd-ß" });
    expect(other(String.raw`"p\u00e4ssw\u00F6rd-\u00df"`)).toBe('"[redacted]"');
  });

  it("are hidden as they stand in JSON", () => {
    const secret = 'pass"word\\with\nlines\tand ü';
    const redact = createRedactor({ DB_PASSWORD: secret });
    expect(redact(JSON.stringify({ login: secret }))).toBe('{"login":"[redacted]"}');
    expect(redact(`plain: ${secret}!`)).toBe("plain: [redacted]!");
  });

  it("are taken as they are, not as patterns", () => {
    const secret = "a.c*[x]$(id)^|?+{2}\\d-/";
    const redact = createRedactor({ API_KEY: secret });
    expect(redact(`<${secret}> abcxx`)).toBe("<[redacted]> abcxx");
    expect(redact("aXc*[x]$(id)^|?+{2}\\d-/")).toBe("aXc*[x]$(id)^|?+{2}\\d-/");
  });

  it("are hidden whole when one is the beginning of another", () => {
    const redact = createRedactor({ A_KEY: "12345678", B_KEY: "1234567890abcdef" });
    expect(redact("1234567890abcdef 12345678")).toBe("[redacted] [redacted]");
  });
});

describe("known tokens", () => {
  it.each([
    ["Anthropic", `sk-ant-api03-${"aB3_-".repeat(18)}`],
    ["OpenAI", `sk-proj-${"Zz9".repeat(15)}`],
    ["GitHub", `ghp_${"a1B2".repeat(9)}`],
    ["GitHub, fine-grained", `github_pat_${"a1B2_".repeat(14)}`],
    ["npm", `npm_${"a1B2".repeat(9)}`],
    ["Slack", `xoxb-${"123456789-".repeat(3)}`],
    ["AWS", "AKIAIOSFODNN7EXAMPLE"],
    ["Google", `AIza${"a1B2_".repeat(7)}`],
    ["JWT", `eyJ${"hbGciOi".repeat(3)}.eyJ${"zdWIiOi".repeat(3)}.${"c2ln".repeat(5)}`],
  ])("of %s are hidden", (_, token) => {
    const redact = createRedactor({});
    expect(redact(`curl -H "x: ${token}" https://example.invalid`)).toBe(
      'curl -H "x: [redacted]" https://example.invalid',
    );
  });

  it.each([
    ["redis://:hunter2@127.0.0.1", "redis://:[redacted]@127.0.0.1"],
    ["postgres://me:hunter2@db/x", "postgres://me:[redacted]@db/x"],
    [
      "postgres://db/x?user=me&password=hunter2&sslmode=require",
      "postgres://db/x?user=me&password=[redacted]&sslmode=require",
    ],
  ])("the password of an address is hidden: %s", (address, shown) => {
    expect(createRedactor({})(address)).toBe(shown);
  });

  it.each([
    "the task-list-is-a-long-word-with-many-dashes",
    "sk-short, skip, ask-me",
    "npm_lifecycle_event=test npm_package_name",
    "commit 3f9a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a",
    "sha512-7Yk0vZ1Gm2b3c4d5e6f7g8h9i0j1k2l3m4n5o6p7q8r9s0t1u2v3w4x5y6z==",
    "https://example.invalid/a/b?c=d#e and C:\\Users\\me",
  ])("are not seen in ordinary text: %s", (text) => {
    expect(createRedactor({})(text)).toBe(text);
  });
});

describe("text without secrets", () => {
  it("is unchanged, whatever it is", () => {
    const redact = createRedactor({ API_KEY: "\u0001\u0002secret\u0003\u0004", ...{ PATH: "/usr/bin" } });
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
        expect(redact(text)).toBe(text);
      }),
      { numRuns: 500 },
    );
  });
});

describe("redactDeep", () => {
  it("goes through arrays and objects and leaves the rest as it is", () => {
    const redact = createRedactor({ API_KEY: VALUE });
    const value = { a: [VALUE, 1, null, { b: `x${VALUE}` }], c: true, d: undefined, e: "plain" };
    expect(redactDeep(value, redact)).toEqual({
      a: ["[redacted]", 1, null, { b: "x[redacted]" }],
      c: true,
      d: undefined,
      e: "plain",
    });
    expect(value.a[0]).toBe(VALUE);
  });
});

describe("what the caller knows to be secret", () => {
  it("is hidden whatever its variable is called, unless it is too short to tell", () => {
    const redact = createRedactor({}, ["profsecret99", "short"]);
    expect(redact("a profsecret99 b short c")).toBe("a [redacted] b short c");
  });
});
