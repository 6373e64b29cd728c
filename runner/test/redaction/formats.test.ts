/** Secrets must be recognized by their format. Ordinary text that resembles secrets must be kept. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { inRuns } from '../../../test/support/properties.ts';
import { FORMATS, type Rule, TOKENS } from '../../src/redaction/formats.ts';
import { VENDOR_RULES } from '../../src/redaction/gitleaks.ts';
import { REDACTED } from '../../src/redaction/placeholder.ts';
import { hasOnlyWords } from '../../src/redaction/words.ts';
import { createRedactor, type Redactor } from '../../src/redaction.ts';

const redactor: Redactor = createRedactor([], {});

/** Builds a fake secret at run time, so that secret scanners do not report this file. */
const base64Url = (length: number): string => 'a1B2_c3D4-e5F6g7H8'.repeat(20).slice(0, length);
const alphanumeric = (length: number): string => 'a1B2c3D4e5F6g7H8'.repeat(20).slice(0, length);
const JWT = `eyJ${alphanumeric(33)}.eyJ${alphanumeric(60)}.${base64Url(43)}`;

const SECRETS = {
  'a Muster credential': `mk_${alphanumeric(20)}.${base64Url(43)}`,
  'an installation token of GitHub': `ghs_123456_${JWT}`,
  'an older installation token of GitHub': `ghs_${alphanumeric(36)}`,
  'a personal token of GitHub': `ghp_${alphanumeric(36)}`,
  'a fine-grained token of GitHub': `github_pat_${alphanumeric(22)}_${alphanumeric(59)}`,
  'a live key of Stripe': `sk_live_${alphanumeric(24)}`,
  'a restricted key of Stripe': `rk_live_${alphanumeric(24)}`,
  'a webhook secret of Stripe': `whsec_${alphanumeric(32)}`,
  'a token of Hugging Face': `hf_${'aBcDeFGhIjKlMnOpQrStUvWxYzAbCdEfGh'}`,
  'an auth key of Google': `AQ.${base64Url(50)}`,
  'an API key of Google': `AIza${base64Url(35)}`,
  'an OAuth token of Google': `ya29.${base64Url(60)}`,
  'an access key of AWS': `AKIA${'ABCDEFGH234567AB'}`,
  'an API key of Anthropic': `sk-ant-api03-${base64Url(93)}AA`,
  'an OAuth token of Anthropic': `sk-ant-oat01-${base64Url(93)}AA`,
  'a project key of OpenAI': `sk-proj-${base64Url(74)}`,
  'an older key of OpenAI': `sk-${alphanumeric(48)}`,
  'a bot token of Slack': `xoxb-123456789012-123456789012-${alphanumeric(24)}`,
  'an app token of Slack': `xapp-1-A0B1C2D3E4F-123456789012-${'0a1b2c3d'.repeat(8)}`,
  'a token of npm': `npm_${alphanumeric(36)}`,
  'a token of GitLab': `glpat-${alphanumeric(20)}`,
  'a routable token of GitLab': `glpat-${base64Url(27)}.01.${'0a1b2c3d4'}`,
  'a client secret of Azure': `aB3${'8Q~'}${alphanumeric(34)}`,
  'a JWT': JWT,
  'an encrypted JWT': `eyJ${alphanumeric(33)}..${base64Url(16)}.${base64Url(60)}.${base64Url(22)}`,
} as const;

/** Texts that can precede a secret without hiding it. */
const BEFORE = [
  '',
  ' ',
  '"',
  "'",
  '`',
  '=',
  '_',
  'x_',
  '(',
  '/',
  '-',
  '\\n',
  '\\t',
  '\\u000a',
  '\\x3d',
  '%3D',
  '\u001b[32m',
];
const AFTER = ['', ' ', '"', "'", '`', ',', ')', ';', '\n', '\\n', '\\"', '%22', '_x', '…', '\u001b[0m', '\r\n'];
const RULES: readonly Rule[] = [...TOKENS, ...VENDOR_RULES];

describe('redaction of secrets with a known format', () => {
  for (const [name, secret] of Object.entries(SECRETS))
    it(`removes ${name} next to any other text`, () => {
      for (const before of BEFORE)
        for (const after of AFTER) {
          const text = redactor.text(`start ${before}${secret}${after} end`);
          assert.ok(!text.includes(secret.slice(-10)), text);
          assert.ok(text.startsWith('start ') && text.endsWith(' end') && text.includes(REDACTED), text);
        }
    });

  it('removes a random secret of each known format from random text', () => {
    for (const { id, pattern, keywords, anywhere, accepts } of RULES) {
      const form = new RegExp(`^${pattern.source.replaceAll('\\b', '')}$`);
      const context = anywhere ? `${keywords[0]} ` : '';
      const starts = (one: string) => anywhere || keywords.some((keyword) => one.toLowerCase().startsWith(keyword));
      inRuns(10).forAll(
        fc.stringMatching(form).filter((one) => starts(one) && (accepts?.(one) ?? !hasOnlyWords(one))),
        fc.constantFrom(...BEFORE),
        fc.constantFrom(...AFTER),
        fc.string(),
        (secret, before, after, other) => {
          const text = redactor.text(`${context}${other} ${before}${secret}${after} ${other}`);
          assert.ok(!text.includes(secret.slice(-12)), `${id}: ${text}`);
        },
      );
    }
  });

  it('removes only the secret, not the text around it that shows that it is a secret', () => {
    const secret = alphanumeric(40);
    const cases = [
      (one: string) => `https://ada:${one}@example.com/x`,
      (one: string) => `postgres://:${one}@db.example.com:5432/app?sslmode=require`,
      (one: string) => `https://${one}@o1.ingest.example.com/1`,
      (one: string) => `Authorization: Bearer ${one}`,
      (one: string) => `"authorization":"Basic ${one}"`,
      (one: string) => `{\\"Authorization\\": \\"Bearer ${one}\\"}`,
      (one: string) => `curl -H 'authorization: token ${one}'`,
      (one: string) => `bearer ${one} was refused`,
      (one: string) => `GET /files?name=a&access_token=${one}&page=2`,
      (one: string) => `https://x.blob.example.net/a?sv=2024-01-01&sig=${one}&se=2027`,
      (one: string) => `AccountName=muster;AccountKey=${one};EndpointSuffix=core.example.net`,
      (one: string) => `Server=db;User=sa;Password=${one};Encrypt=true`,
      (one: string) => `aws_secret_access_key = ${one}`,
      (one: string) => `"SecretAccessKey": "${one}",`,
      (one: string) => `https://hooks.slack.com/services/${one}`,
    ];
    for (const write of cases) assert.equal(redactor.text(write(secret)), write(REDACTED));
  });

  it('removes a password that contains an at sign from a URL', () =>
    assert.equal(redactor.text('https://ada:p@ss@example.com/x'), `https://ada:${REDACTED}@example.com/x`));

  it('removes secrets from every text and key of a JSON value', () => {
    const secret = SECRETS['a token of npm'];
    assert.deepEqual(redactor.json({ a: [secret, { [secret]: 1 }], n: null, t: true }), {
      a: [REDACTED, { [REDACTED]: 1 }],
      n: null,
      t: true,
    });
  });

  it('changes nothing if it is applied to its own result', () => {
    for (const secret of Object.values(SECRETS)) {
      const once = redactor.text(`a ${secret} Bearer ${secret} https://a:${secret}@b/`);
      assert.equal(redactor.text(once), once);
    }
  });
});

describe('redaction of ordinary text', () => {
  const word = fc.constantFrom(
    'src',
    'task',
    'monkey',
    'author',
    'keycloak',
    'token',
    'secret',
    'firebase',
    'index',
    'risk',
  );
  const hex = (length: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`));
  const text = fc.oneof(
    fc.array(word, { minLength: 2, maxLength: 8 }).map((words) => `/${words.join('/')}.ts:12:5`),
    fc.array(word, { minLength: 2, maxLength: 8 }).map((words) => `feature/${words.join('-')}`),
    fc.array(word, { minLength: 2, maxLength: 8 }).map((words) => words.join('_')),
    fc.array(word, { minLength: 2, maxLength: 8 }).map((words) => words.join(' ')),
    fc.constantFrom(
      'sk-spinner-container-wrapper-inner',
      'sk-fading-circle-12-of-the-spinner',
      'sk_test_integration_of_payments',
      'hf_transformers_configuration_name',
      'ghs_installation_token_for_repositories',
      'npm_config_registry_of_the_workspace',
      'mk_temporary_directory_for_tests',
      'basic authentication of the agent',
      'Bearer authentication is required',
      'Authorization: required',
      'work/task-000abc-001',
      'Jane Q. Public <jane.public@example.com>',
      'http://localhost:3000/@scope/package?key=primary&sort=name',
      'https://github.com/owner/name/pull/12#issuecomment-123456789',
      '2026-11-26T00:39:19.123Z',
      'AKIA is the prefix of an access key',
      'const x = Bearer + " " + token',
      'https://x-access-token:$TOKEN@example.com/owner/name',
      'git+ssh://git@example.com:owner/name.git',
      'data:font/woff2;base64,',
      'b.createElement(t.key=e.token,n.password=r.value)',
    ),
    hex(40),
    hex(64),
    fc.uuid(),
    fc.uint8Array({ minLength: 64, maxLength: 64 }).map((bytes) => `sha512-${Buffer.from(bytes).toString('base64')}`),
  );

  it('keeps paths, branches, words, names, commit ids and checksums unchanged', () =>
    inRuns(500).forAll(fc.array(text, { maxLength: 5 }), fc.constantFrom(' ', '\n', '\t', ', '), (texts, separator) => {
      const whole = texts.join(separator);
      assert.equal(redactor.text(whole), whole);
    }));

  it('keeps a base64-encoded image unchanged', () => {
    const image = `data:image/png;base64,${randomBytes(300_000).toString('base64')}`;
    assert.equal(redactor.text(image), image);
  });
});

describe('the duration of redaction', () => {
  const LENGTH = 24 * 1024;
  /** Maximum ratio of the durations for a suspicious and an ordinary line. With quadratic time, it would be 1,000. */
  const MOST = 40;

  const repeated = (unit: string): string => unit.repeat(Math.ceil(LENGTH / unit.length)).slice(0, LENGTH);
  const cpuOf = (line: string): number => {
    const before = process.cpuUsage();
    redactor.text(line);
    const { user, system } = process.cpuUsage(before);
    return Math.max(1, user + system);
  };
  /** Returns the shortest duration of several runs, because garbage collection can slow down a run. */
  const lowest = (line: string): number => Math.min(cpuOf(line), cpuOf(line), cpuOf(line));

  let ordinary: number;
  before(() => {
    ordinary = lowest(repeated('some other text '));
  });

  function assertInProportion(line: string): void {
    if (cpuOf(line) < MOST * ordinary) return;
    const ratio = lowest(line) / ordinary;
    assert.ok(ratio < MOST, `${line.slice(0, 40)}: ${ratio}`);
  }

  it('grows linearly with the length of a line that repeats the start of a secret', () => {
    for (const keyword of new Set(FORMATS.flatMap(({ keywords }) => keywords)))
      for (const unit of [`-${keyword}`, `${keyword.toUpperCase()}1.`]) assertInProportion(repeated(unit));
  });

  it('grows linearly with the length of a line that continues after the start of a secret', () => {
    for (const keyword of new Set(FORMATS.flatMap(({ keywords }) => keywords)))
      for (const unit of ['a1', '-_']) assertInProportion(`${keyword}${repeated(unit)}`);
  });

  for (const unit of [
    '\\',
    '-----BEGIN ',
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN PRIVATE KEY-----\\nMIIE',
    '\\n',
    '://a:',
    '?key=',
    'eyJ.',
    '%0A',
    '"+ ',
    'authorization: ',
    '\u001b[',
  ])
    it(`grows linearly with the length of a line that repeats ${JSON.stringify(unit)}`, () => {
      assertInProportion(repeated(unit));
      assertInProportion(`-----BEGIN PRIVATE KEY-----${repeated(unit)}`);
    });
});
