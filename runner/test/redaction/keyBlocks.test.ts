import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { forAll } from '../../../test/support/properties.ts';
import { createKeyBlockRedactor } from '../../src/redaction/keyBlocks.ts';
import { REDACTED } from '../../src/redaction/placeholder.ts';
import { createRedactor } from '../../src/redaction.ts';
import { printable } from '../../src/task/log.ts';

const redactor = createRedactor([], {});

function keyOf(type: 'pkcs1' | 'pkcs8', modulusLength: number, encrypted = false): string {
  const cipher = encrypted ? { cipher: 'aes-256-cbc', passphrase: 'hunter2' } : {};
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type, format: 'pem', ...cipher },
  });
  return privateKey.trim();
}

function pemOf(label: string, material: Buffer, width: number): string {
  const lines = material.toString('base64').match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`].join('\n');
}

const small = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().trim();
const bytes = Buffer.from(keyOf('pkcs8', 2048).replace(/-.*-|\n/g, ''), 'base64');

/** Material whose last line in base64 has no digit. */
const syllables = Buffer.concat([bytes.subarray(0, 285), Buffer.from('RunnerRunnerRunnerRu', 'base64')]);

const KEYS = {
  'RSA in PKCS#8': keyOf('pkcs8', 2048),
  'RSA in PKCS#1': keyOf('pkcs1', 2048),
  'RSA with headers': keyOf('pkcs1', 2048, true),
  'RSA encrypted': keyOf('pkcs8', 2048, true),
  Ed25519: small,
  'an OpenSSH key': pemOf(
    'OPENSSH PRIVATE KEY',
    Buffer.concat([Buffer.from('openssh-key-v1\0\0\0\0\x04none\0\0\0\x04none\0\0'), bytes]),
    70,
  ),
  'a PGP key': pemOf('PGP PRIVATE KEY BLOCK', bytes, 64)
    .replace('\n', '\nVersion: GnuPG v2\n\n')
    .replace('\n-----END', '\n=njUN\n-----END'),
  'a key with short lines': pemOf('PRIVATE KEY', bytes.subarray(0, 300), 20),
  'a key whose last line looks like words': pemOf('PRIVATE KEY', syllables, 20),
} as const;

const prefixed = (key: string, prefix: (index: number) => string): string =>
  key
    .split('\n')
    .map((line, index) => `${prefix(index)}${line}`)
    .join('\n');

/** Ways in which programs print a private key. */
const FORMS: Readonly<Record<string, (key: string) => string>> = {
  'line by line': (key) => key,
  'with carriage returns': (key) => key.replaceAll('\n', '\r\n'),
  'as added lines of a diff': (key) => prefixed(key, () => '+'),
  'as removed lines of a diff': (key) => prefixed(key, () => '-'),
  'as unchanged lines of a diff': (key) => prefixed(key, () => ' '),
  'in a colored diff': (key) => prefixed(key, () => '\u001b[32m+').replaceAll('\n', '\u001b[m\n'),
  'with line numbers': (key) => prefixed(key, (index) => `${String(index + 1).padStart(6)}→`),
  'as matches of a search': (key) => prefixed(key, (index) => `certs/server.pem:${index + 1}:`),
  'with a time on each line': (key) => prefixed(key, (index) => `2026-11-26T00:00:${10 + index}.123Z web-1  | `),
  'between lines of another service': (key) =>
    key
      .split('\n')
      .map((line) => `web | ${line}\ndb | ready for connections`)
      .join('\n'),
  'in a string of JSON': (key) => JSON.stringify({ type: 'a', key: `${key}\n`, other: 'kept' }),
  'in a string of JSON in a string': (key) => JSON.stringify(JSON.stringify({ key, other: 'kept' })),
  'as a list of JSON': (key) => JSON.stringify(key.split('\n')),
  'as indented JSON': (key) => JSON.stringify(key.split('\n'), null, 2),
  'in YAML': (key) => `key: |\n${prefixed(key, () => '  ')}\nother: kept`,
  'as concatenated strings': (key) =>
    key
      .split('\n')
      .map((line) => `  "${line}\\n" +`)
      .join('\n'),
  'in one line with spaces': (key) => key.replaceAll('\n', ' '),
  'in one line without separators': (key) => key.replaceAll('\n', ''),
  'in an address': (key) => `?key=${encodeURIComponent(key)}`,
  'without an end': (key) => key.split('\n').slice(0, -1).join('\n'),
  'as a variable': (key) => `export DEPLOY_KEY="${key}"`,
};

/** Returns parts of each line of a key, except its markers, headers and short last line. */
function materialOf(key: string): readonly string[] {
  const lines = key.split('\n').filter((line) => !/[-: ]/.test(line) && line.length >= 20);
  assert.ok(lines.length > 0);
  return lines.flatMap((line) => [line, encodeURIComponent(line)].map((one) => one.slice(-16)));
}

/** Redacts a text line by line, as the runner does while a program prints it. */
function streamed(text: string): string {
  const withoutKeys = createKeyBlockRedactor();
  const lines = text.split('\n').map((line) => withoutKeys(line));
  return lines
    .filter((line) => line !== undefined)
    .map((line) => redactor.text(printable(line)))
    .join('\n');
}

describe('redaction of private keys', () => {
  for (const [form, write] of Object.entries(FORMS))
    it(`removes a key that is printed ${form}, and keeps the text around it`, () => {
      for (const [name, key] of Object.entries(KEYS)) {
        // In this form, nothing separates the headers of a key from its lines. Such keys are skipped here.
        if (/: |Version/.test(key) && form === 'in one line without separators') continue;
        const text = `first line\n${write(key)}\nnot ok 2 - login fails\nlast line`;
        assertRedacted(name, key, text, streamed(text));
        assertRedacted(name, key, text, redactor.text(printable(text)));
      }
    });

  const count = (text: string, part: string): number => text.split(part).length - 1;

  function assertRedacted(name: string, key: string, text: string, safe: string): void {
    for (const line of materialOf(key)) assert.ok(!safe.includes(line), `${name}: ${safe}`);
    assert.ok(safe.includes(REDACTED), safe);
    assert.ok(safe.startsWith('first line\n'), safe);
    assert.ok(safe.endsWith('\nnot ok 2 - login fails\nlast line'), safe);
    for (const kept of ['kept', 'db | ready for connections']) assert.equal(count(safe, kept), count(text, kept));
  }

  it('replaces all lines of a key with one placeholder', () => {
    const key = KEYS['RSA in PKCS#8'];
    const safe = ['-----BEGIN PRIVATE KEY-----', REDACTED, '-----END PRIVATE KEY-----'].join('\n');
    assert.equal(streamed(`a\n${key}\nb`), `a\n${safe}\nb`);
    assert.equal(redactor.text(`a\n${key}\nb`), `a\n${safe}\nb`);
    assert.equal(redactor.text(safe), safe);
  });

  it('keeps every line after a BEGIN marker that is part of ordinary text', () => {
    const lines = [
      'ok 1 - rejects "-----BEGIN PRIVATE KEY-----"',
      'not ok 2 - login fails',
      '  Error: expected 200, received 401',
      '    at login (src/auth/login.test.ts:12:5)',
      '0123456789abcdef0123456789abcdef01234567',
      'done',
      '',
      'PASS',
      '# -----BEGIN RSA PRIVATE KEY----- is the first line of a key, and this is no key',
      'src/components/authentication/certificates/index',
      'FAILED',
      '+-----BEGIN PRIVATE KEY-----',
      '+not a key',
      '3 passing',
    ];
    assert.equal(streamed(lines.join('\n')), lines.join('\n'));
    assert.equal(redactor.text(lines.join('\n')), lines.join('\n'));
  });

  it('keeps ordinary lines after a BEGIN marker that has no END marker', () => {
    const line = fc.oneof(
      fc
        .array(fc.constantFrom('not', 'ok', 'login', 'fails', 'expected', 'Error'), { minLength: 1, maxLength: 8 })
        .map((all) => all.join(' ')),
      fc.stringMatching(/^[0-9a-f]{40}$/),
      fc.array(fc.constantFrom('src', 'login', 'index'), { minLength: 2, maxLength: 9 }).map((all) => all.join('/')),
      fc.constantFrom('', '  at run (node:internal/main:12:5)', '✔ passes (12ms)', 'exit code 1', '{"ok":true}'),
    );
    forAll(fc.array(line, { maxLength: 30 }), (lines) => {
      const text = ['a -----BEGIN PRIVATE KEY-----', ...lines].join('\n');
      assert.equal(streamed(text), text);
    });
  });

  it('removes at most 120 lines after a BEGIN marker that has no END marker', () => {
    const line = KEYS['RSA in PKCS#8'].split('\n')[1] ?? '';
    const text = ['-----BEGIN PRIVATE KEY-----', ...Array<string>(500).fill(line)].join('\n');
    assert.equal(streamed(text).split('\n').length, 1 + 1 + 500 - 120);
  });

  it('keeps a line on standard error after a BEGIN marker on standard output', () => {
    const output = createKeyBlockRedactor();
    const errors = createKeyBlockRedactor();
    const line = KEYS['RSA in PKCS#8'].split('\n')[1] ?? '';
    output('-----BEGIN PRIVATE KEY-----');
    assert.equal(errors(line), line);
    assert.equal(output(line), REDACTED);
  });
});
