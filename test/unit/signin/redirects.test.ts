import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  isOnThisMachine,
  isRegistered,
  redirectFault,
  shownHost,
  withParameters,
} from '../../../functions/src/signin/rules/redirects.ts';
import { inRuns } from '../../support/properties.ts';

/** Redirect URIs in the documents of these clients, without a port. */
const CLAUDE_CODE = ['http://localhost/callback', 'http://127.0.0.1/callback'];

const CURSOR = [
  'cursor://anysphere.cursor-mcp/oauth/callback',
  'https://www.cursor.com/agents/mcp/oauth/callback',
  'http://localhost:8787/callback',
];

const CLAUDE = 'https://claude.ai/api/mcp/auth_callback';

describe('check of a redirect URI before its registration', () => {
  for (const taken of [
    CLAUDE,
    ...CLAUDE_CODE,
    ...CURSOR,
    'https://client.example:8443/callback?tenant=1',
    'http://[::1]:3000/',
    'http://127.0.0.1:33418/',
    `https://client.example/${'a'.repeat(1977)}`,
  ])
    it(`accepts ${taken.slice(0, 60)}`, () => assert.equal(redirectFault(taken), undefined));

  for (const [refused, why] of [
    ['', /must be an absolute URI/],
    ['/callback', /must be an absolute URI/],
    ['client.example/callback', /must be an absolute URI/],
    ['https://client.example/ä', /printable ASCII/],
    ['https://client.example/a b', /printable ASCII/],
    ['https://client.example/\n', /printable ASCII/],
    [' https://client.example/', /printable ASCII/],
    ['https://client.example/\u202e', /printable ASCII/],
    ['https://client.example\\callback', /backslash/],
    ['http://localhost\\@evil.example/callback', /backslash/],
    ['https://client.example/#', /fragment/],
    ['https://client.example/callback#x', /fragment/],
    ['https://user@client.example/', /a user name or a password/],
    ['https://user:pw@client.example/', /a user name or a password/],
    ['https://:pw@client.example/', /a user name or a password/],
    ['http://localhost@evil.example/', /a user name or a password/],
    ['http://client.example/callback', /only accepted on localhost/],
    ['http://localhost.evil.example/callback', /only accepted on localhost/],
    ['http://localhost./callback', /only accepted on localhost/],
    ['http://0.0.0.0/callback', /only accepted on localhost/],
    ['http://127.0.0.2/callback', /only accepted on localhost/],
    ['http://[::ffff:127.0.0.1]/callback', /only accepted on localhost/],
    ['javascript:alert(1)', /scheme/],
    ['JavaScript:alert(1)', /scheme/],
    ['data:text/html,<script>alert(1)</script>', /scheme/],
    ['file:///etc/passwd', /scheme/],
    ['blob:https://client.example/1', /scheme/],
    ['vbscript:x', /scheme/],
    ['ws://localhost/callback', /scheme/],
    ['com.example.app:/callback', /scheme/],
    ['vscode://vscode.github-authentication/did-authenticate', /scheme/],
    ['cursor://anysphere.cursor-mcp/oauth/callback/more', /scheme/],
    ['cursor://evil.cursor-mcp/oauth/callback', /scheme/],
    ['Cursor://anysphere.cursor-mcp/oauth/callback', /scheme/],
    ['cursor://anysphere.cursor-mcp/oauth/callback?x', /scheme/],
    [`https://client.example/${'a'.repeat(1978)}`, /longer than 2000/],
  ] as const)
    it(`rejects ${JSON.stringify(refused.slice(0, 60))}`, () => {
      assert.match(redirectFault(refused) ?? '', why);
      assert.equal(isRegistered(refused, [refused]), false, 'even if its client registered it');
    });
});

describe('registered redirect URI', () => {
  it('matches a requested URI only if both are identical', () => {
    assert.equal(isRegistered(CLAUDE, [CLAUDE]), true);
    assert.equal(isRegistered(CLAUDE, []), false);
    for (const other of [
      `${CLAUDE}/`,
      `${CLAUDE}?x=1`,
      `${CLAUDE}?`,
      `${CLAUDE}/../auth_callback`,
      `${CLAUDE}%2f..`,
      CLAUDE.toUpperCase(),
      CLAUDE.replace('claude.ai', 'Claude.ai'),
      CLAUDE.replace('claude.ai', 'claude.ai:443'),
      CLAUDE.replace('claude.ai', 'claude.ai:8443'),
      CLAUDE.replace('claude.ai', 'claude.ai.'),
      CLAUDE.replace('claude.ai', 'claude.ai.evil.example'),
      CLAUDE.replace('claude.ai', 'www.claude.ai'),
      CLAUDE.replace('https', 'http'),
    ])
      assert.equal(isRegistered(other, [CLAUDE]), false, other);
  });

  it('on the loopback interface matches any port, which Claude Code needs', () => {
    for (const uri of [
      ...CLAUDE_CODE,
      'http://localhost:3118/callback',
      'http://localhost:65535/callback',
      'http://127.0.0.1:49152/callback',
    ])
      assert.equal(isRegistered(uri, CLAUDE_CODE), true, uri);
    assert.equal(isRegistered('http://[::1]:3000/callback', ['http://[::1]/callback']), true);
    assert.equal(isRegistered('http://localhost/callback', ['http://localhost:3118/callback']), true);
    assert.equal(isRegistered('http://localhost:1/callback', ['http://localhost:3118/callback']), true);
  });

  it('on the loopback interface requires the same path, host and query', () => {
    for (const uri of [
      'http://localhost:3118',
      'http://localhost:3118/',
      'http://localhost:3118/callback/',
      'http://localhost:3118/Callback',
      'http://localhost:3118/callback?x=1',
      'http://localhost:3118/callback?',
      'http://localhost:3118/./callback',
      'http://localhost:3118//callback',
      'http://localhost:65536/callback',
      'http://localhost:1:2/callback',
      'http://localhost:1@evil.example/callback',
      'http://localhost:x/callback',
      'http://[::1]:3118/callback',
      'http://127.1:3118/callback',
      'http://0x7f.0.0.1:3118/callback',
      'http://2130706433:3118/callback',
      'http://evil.example:3118/callback',
      'https://localhost:3118/callback',
      'http:/localhost:3118/callback',
      'http:\\\\localhost:3118\\callback',
      'http://localhost:3118\\callback',
    ])
      assert.equal(isRegistered(uri, CLAUDE_CODE), false, uri);
    assert.equal(isRegistered('http://localhost:1/callback', ['http://127.0.0.1/callback']), false);
    assert.equal(isRegistered('http://127.0.0.1:1/callback', ['http://localhost/callback']), false);
  });

  it('matches each of the three URIs that Cursor registers', () => {
    for (const uri of CURSOR) {
      assert.equal(redirectFault(uri), undefined);
      assert.equal(isRegistered(uri, CURSOR), true);
      assert.equal(
        isRegistered(
          uri,
          CURSOR.filter((one) => one !== uri),
        ),
        false,
      );
    }
  });

  /** Generates the `standard` values more often, so that many of the generated URIs are valid. */
  const part = (standard: readonly string[], ...others: readonly string[]) =>
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...standard) },
      { weight: 2, arbitrary: fc.constantFrom(...others) },
    );
  const parts = fc.tuple(
    part(['http://'], 'https://', 'HTTP://', 'http:/', 'http:\\\\', 'http:///', 'cursor://'),
    part([''], 'localhost@', 'localhost:1@', '@'),
    fc.oneof(
      part(['localhost', '127.0.0.1', '[::1]'], 'LOCALHOST', '127.1', 'localhost.', 'localhost.evil.example'),
      fc.constantFrom('client.example', 'client.example.evil.example', 'evil.example'),
      fc.stringMatching(/^[a-z0-9.:@[\]\\%-]{1,12}$/),
    ),
    part(['', ':80', ':3118'], ':', ':443', ':65536', ':1:2', ':1@evil.example', ':\\', '%3a80'),
    fc.oneof(
      part(['/callback'], '', '/', '/callback/', '/./callback', '\\callback', '/callback%00', '/callback;x'),
      fc.stringMatching(/^[/\\.@:a-c%]{0,6}$/),
    ),
    part(['', '?x=1'], '?', '?x=1&y=2', '#', '#x'),
  );
  const uris = parts.map((all) => all.join(''));
  /** Pairs of URIs that are equal in most of their parts. */
  const pairs = fc
    .tuple(parts, parts, fc.array(fc.nat(3), { minLength: 6, maxLength: 6 }))
    .map(([one, other, changes]) => {
      const changed = one.map((text, index) => (changes[index] === 0 ? other[index] : text));
      return [one.join(''), changed.join('')] as const;
    });

  it('never matches another host, path or query, or another port except on loopback', () => {
    let count = 0;
    inRuns(20_000).forAll(pairs, ([uri, one]) => {
      if (!isRegistered(uri, [one]) || uri === one) return;
      count += 1;
      const [asked, given] = [new URL(uri), new URL(one)];
      for (const { protocol, hostname, username, password, hash } of [asked, given]) {
        assert.equal(protocol, 'http:');
        assert.ok(['localhost', '127.0.0.1', '[::1]'].includes(hostname));
        assert.deepEqual([username, password, hash], ['', '', '']);
      }
      assert.equal(asked.hostname, given.hostname);
      assert.equal(asked.pathname, given.pathname);
      assert.equal(asked.search, given.search);
    });
    assert.ok(count > 5, `${count} matched`);
  });

  it('never matches a URI that may not be registered', () =>
    inRuns(5000).forAll(uris, (uri) => {
      if (isRegistered(uri, [uri])) assert.equal(redirectFault(uri), undefined);
      else assert.notEqual(redirectFault(uri), undefined);
    }));
});

describe('redirect URI to which a sign-in returns', () => {
  it('is shown to the person by its host', () => {
    const uris = [CLAUDE, 'http://localhost:3118/callback', 'https://client.example:8443/', CURSOR[0] ?? ''];
    assert.deepEqual(uris.map(shownHost), ['claude.ai', 'localhost:3118', 'client.example:8443', CURSOR[0]]);
    assert.deepEqual([CLAUDE, ...CLAUDE_CODE, ...CURSOR].map(isOnThisMachine), [false, true, true, true, false, true]);
  });

  it('receives the result parameters in addition to its own query', () => {
    assert.equal(
      withParameters('https://client.example/callback?tenant=1', { code: 'mc_a.b', state: 'x&y=ö', error: undefined }),
      'https://client.example/callback?tenant=1&code=mc_a.b&state=x%26y%3D%C3%B6',
    );
    assert.equal(
      withParameters(CURSOR[0] ?? '', { code: 'mc_a.b' }),
      'cursor://anysphere.cursor-mcp/oauth/callback?code=mc_a.b',
    );
  });

  it('has its own parameters replaced by result parameters of the same name', () =>
    assert.equal(
      withParameters('https://client.example/?code=old&iss=old', { code: 'new', iss: 'https://muster.example' }),
      'https://client.example/?code=new&iss=https%3A%2F%2Fmuster.example',
    ));
});
