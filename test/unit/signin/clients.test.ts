import assert from 'node:assert/strict';
import fc from 'fast-check';
import { systemHashing } from '../../../functions/src/kernel/platform.ts';
import { Clients, type RegisteredClient, shownName } from '../../../functions/src/signin/rules/clients.ts';
import { OAuthError } from '../../../functions/src/signin/rules/oauthError.ts';
import { START, secondsAfterStart } from '../../support/builders.ts';
import { portsOf } from '../../support/ports.ts';
import { forAll } from '../../support/properties.ts';

const ID = 'https://client.example/oauth/client.json';
const CALLBACK = 'https://client.example/callback';
const DAY = 24 * 60 * 60;

async function oauthError(act: () => unknown): Promise<OAuthError> {
  try {
    await act();
  } catch (error) {
    assert.ok(error instanceof OAuthError, `no OAuthError: ${String(error)}`);
    return error;
  }
  assert.fail('nothing was refused');
}

describe('displayed name of an app', () => {
  for (const [name, shown] of [
    ['Claude Code', 'Claude Code'],
    ['  Claude \t\n Code  ', 'Claude Code'],
    ['日本語の アプリ', '日本語の アプリ'],
    ['<b>Claude</b> & "Co"', '<b>Claude</b> & "Co"'],
    ['\u202eedoC edualC\u202c', 'edoC edualC'],
    ['Claude\u2066 Code\u2069', 'Claude Code'],
    ['\u200fClaude\u200e', 'Claude'],
    ['Cl\u200baude', 'Cl aude'],
    ['\ufeffClaude\u0000\u001b[31m', 'Claude [31m'],
    ['Claude\u2028Code\u2029', 'Claude Code'],
    ['Claude\u00a0\u3000Code', 'Claude Code'],
    ['\ud800Claude', 'Claude'],
    ['\u{e0041}\u{e0042}', 'An app'],
    ['\u3164\u115f\u1160\uffa0\u034f\u2800\ufe0f', 'An app'],
    ['\u200b\u200d\u00ad', 'An app'],
    ['', 'An app'],
    [' ', 'An app'],
    ['a'.repeat(61), 'a'.repeat(60)],
    ['😀'.repeat(1000), '😀'.repeat(60)],
    [`${'a'.repeat(59)} b`, 'a'.repeat(59)],
  ] as const)
    it(`contains no invisible characters: ${JSON.stringify(name.slice(0, 30))}`, () =>
      assert.equal(shownName(name), shown));

  it('is one short line for any text, and does not change if it is shortened again', () =>
    forAll(fc.string({ unit: 'binary', maxLength: 200 }), (name) => {
      const shown = shownName(name);
      assert.ok([...shown].length <= 60 && shown.length > 0);
      assert.doesNotMatch(shown, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|^\s|\s$| {2}/u);
      assert.equal(shownName(shown), shown);
    }));
});

describe('OAuth clients', () => {
  let now: Date;
  let document: unknown;
  let maxAgeSeconds: number | undefined;
  let fetched: string[];
  let charged: number;
  let logged: string[];
  let registered: Map<string, RegisteredClient>;
  let writes: number;
  let clients: Clients;

  const described = (changes: object = {}) => ({
    client_id: ID,
    client_name: 'A client',
    redirect_uris: [CALLBACK],
    ...changes,
  });

  beforeEach(() => {
    now = START;
    document = described();
    maxAgeSeconds = undefined;
    [fetched, charged, logged, registered, writes] = [[], 0, [], new Map(), 0];
    clients = new Clients(
      portsOf<ConstructorParameters<typeof Clients>[0]>({
        clock: { now: () => now },
        hashing: systemHashing,
        log: { info: (event) => void logged.push(event) },
        clientDocuments: {
          fetch: async (url) => {
            fetched.push(url.href);
            if (document instanceof Error) throw document;
            const text = typeof document === 'string' ? document : JSON.stringify(document);
            return { text, maxAgeSeconds };
          },
        },
        signIns: { client: async (id) => registered.get(id) },
        store: {
          commit: async (changes) => {
            for (const change of changes) {
              assert.ok(change.kind === 'storeClient');
              registered.set(change.client.id, change.client);
            }
            writes += 1;
          },
        },
      }),
    );
  });

  const charge = (): void => {
    charged += 1;
  };
  const find = (id = ID) => clients.find(id, charge);

  describe('that have a metadata document', () => {
    it('have the properties that their document states', async () => {
      assert.deepEqual(await find(), { id: ID, name: 'A client', host: 'client.example', redirect_uris: [CALLBACK] });
      assert.deepEqual(fetched, [ID]);
    });

    it('have a name that can be displayed, and a host with its port', async () => {
      const id = 'https://client.example:8443/client';
      document = described({ client_id: id, client_name: 'Claude\u202e Code' });
      const client = await find(id);
      assert.deepEqual([client?.name, client?.host], ['Claude Code', 'client.example:8443']);
    });

    it('are read again after the max-age of the document, between five minutes and a day', async () => {
      for (const [output, seconds] of [
        [undefined, 300],
        [0, 300],
        [299, 300],
        [3600, 3600],
        [DAY, DAY],
        [31 * DAY, DAY],
      ] as const) {
        const id = `${ID}?${output}`;
        document = described({ client_id: id });
        maxAgeSeconds = output;
        [fetched, charged] = [[], 0];
        const start = now;
        const later = (more: number): Date => new Date(start.getTime() + more * 1000);
        await find(id);
        now = later(seconds - 0.001);
        await find(id);
        assert.deepEqual([fetched.length, charged], [1, 1], `${output}`);
        now = later(seconds);
        await find(id);
        assert.deepEqual([fetched.length, charged], [2, 2], `${output}`);
      }
    });

    it('are not read if the caller exceeds the rate limit', async () => {
      const refuse = () => {
        throw new RangeError('too many');
      };
      await assert.rejects(clients.find(ID, refuse), RangeError);
      assert.deepEqual(fetched, []);
    });

    it('receive the reason why their document was refused, and this refusal is not cached', async () => {
      document = new Error('the host is not a public server');
      const error = await oauthError(find);
      assert.equal(error.code, 'invalid_client');
      assert.match(error.message, /could not be read: the host is not a public server\.$/);
      assert.deepEqual(logged, ['client_document_refused']);
      document = described();
      assert.equal((await find())?.name, 'A client');
    });

    for (const [what, changes] of [
      ['another id', { client_id: 'https://client.example/oauth/other.json' }],
      ['the same id with a slash', { client_id: `${ID}/` }],
      ['the same id in capitals', { client_id: ID.replace('client.example', 'CLIENT.example') }],
      ['no id', { client_id: undefined }],
      ['no name', { client_name: undefined }],
      ['an empty name', { client_name: '' }],
      ['no redirect URIs', { redirect_uris: undefined }],
      ['an empty list of redirect URIs', { redirect_uris: [] }],
      ['redirect URIs that are not texts', { redirect_uris: [7] }],
      ['a public secret', { client_secret: 'hush' }],
      ['an empty secret', { client_secret: '' }],
      ['a method with a secret', { token_endpoint_auth_method: 'client_secret_post' }],
      ['only a key', { token_endpoint_auth_method: 'private_key_jwt' }],
      [
        'methods without "none"',
        {
          token_endpoint_auth_method: 'private_key_jwt',
          token_endpoint_auth_methods_supported: ['private_key_jwt', 'tls_client_auth'],
        },
      ],
    ] as const)
      it(`are refused if their document contains ${what}`, async () => {
        document = described(changes);
        assert.equal((await oauthError(find)).code, 'invalid_client');
      });

    for (const text of ['', 'null', '[]', '"x"', '<html>', '{"client_id": '])
      it(`are refused if their document is the text ${JSON.stringify(text)}`, async () => {
        document = text;
        assert.equal((await oauthError(find)).code, 'invalid_client');
      });

    for (const methods of [
      undefined,
      { token_endpoint_auth_method: 'none' },
      // ChatGPT sends these methods.
      {
        token_endpoint_auth_method: 'private_key_jwt',
        token_endpoint_auth_methods_supported: ['private_key_jwt', 'none'],
        jwks_uri: 'https://client.example/jwks.json',
      },
    ])
      it(`may have no secret, as public clients: ${JSON.stringify(methods)}`, async () => {
        document = described(methods);
        assert.equal((await find())?.id, ID);
      });

    it('may have unknown properties in their document', async () => {
      document = described({ logo_uri: 'https://client.example/logo.png', scope: 'all', contacts: [] });
      assert.deepEqual(Object.keys((await find()) ?? {}), ['id', 'name', 'host', 'redirect_uris']);
    });

    it('keep only those redirect URIs that are valid', async () => {
      document = described({
        redirect_uris: [
          'http://localhost/callback',
          'javascript:alert(1)',
          CALLBACK,
          'http://client.example/callback',
          'com.example.app:/callback',
        ],
      });
      assert.deepEqual((await find())?.redirect_uris, ['http://localhost/callback', CALLBACK]);
      document = described({ client_id: `${ID}?none`, redirect_uris: ['data:,x'] });
      assert.deepEqual((await find(`${ID}?none`))?.redirect_uris, []);
    });

    for (const id of [
      '',
      'client',
      'http://client.example/client',
      'HTTPS://client.example/client',
      'https://CLIENT.example/client',
      'https://client.example',
      'https://client.example/',
      'https://client.example?client',
      'https://client.example:443/client',
      'https://user@client.example/client',
      'https://user:pw@client.example/client',
      'https://client.example/client#',
      'https://client.example/client#fragment',
      'https://client.example/./client',
      'https://client.example/a/../client',
      'https://client.example/a/%2e%2e/client',
      'https://client.example/..',
      'https://client.example\\client',
      'https:/client.example/client',
      'https:client.example/client',
      'https://client.example/a b',
      ' https://client.example/client',
      'https://client.example/client\n',
      'https://clïent.example/client',
      'https://2130706433/client',
      'https://127.1/client',
      'javascript:alert(1)',
      `https://client.example/${'a'.repeat(1000)}`,
      `client_${'A'.repeat(32)}`,
      `client_${'a'.repeat(31)}`,
    ])
      it(`are not found with the id ${JSON.stringify(id.slice(0, 60))}`, async () => {
        assert.equal(await find(id), undefined);
        assert.deepEqual([fetched, charged], [[], 0], 'nothing is fetched');
      });
  });

  describe('that register dynamically', () => {
    const body = { client_name: 'Cursor', redirect_uris: [CALLBACK, 'http://localhost:1/callback'] };

    it('are found by their id, but have no verified host', async () => {
      const { id } = await clients.register(body);
      assert.match(id, /^client_[0-9a-f]{32}$/);
      assert.deepEqual(await find(id), { id, name: 'Cursor', redirect_uris: body.redirect_uris });
      assert.equal(charged, 0);
    });

    it('keep their id if they register again with reordered URIs, with at most two writes a day', async () => {
      const first = await clients.register(body);
      now = secondsAfterStart(DAY / 2);
      const turned = [...body.redirect_uris].reverse();
      const again = await clients.register({ ...body, redirect_uris: [...turned, ...turned] });
      assert.deepEqual([again.id, again.created_at], [first.id, START]);
      assert.equal(writes, 1);
      now = secondsAfterStart(DAY + 1);
      await clients.register(body);
      assert.equal(writes, 2);
      assert.notEqual((await clients.register({ ...body, client_name: 'Cursor 2' })).id, first.id);
      assert.notEqual((await clients.register({ ...body, redirect_uris: [CALLBACK] })).id, first.id);
    });

    it('expire after a day if no person has signed in from the client', async () => {
      const { id } = await clients.register(body);
      now = secondsAfterStart(DAY - 1);
      assert.equal((await find(id))?.id, id);
      now = secondsAfterStart(DAY);
      assert.equal(await find(id), undefined, 'reading does not extend the expiry');
      await clients.register(body);
      now = secondsAfterStart(2 * DAY - 60);
      await clients.register(body);
      now = secondsAfterStart(2 * DAY + 60);
      assert.equal((await find(id))?.id, id, 'a client that registers again can sign in next');
    });

    it('expire 90 days after the last sign-in, even if they register again', async () => {
      const { id } = await clients.register(body);
      await clients.extendUsed(id);
      now = secondsAfterStart(89 * DAY);
      await clients.register(body);
      await clients.extendUsed(id);
      assert.equal((await find(id))?.id, id);
      now = secondsAfterStart((89 + 90) * DAY - 1);
      assert.equal((await find(id))?.id, id);
      now = secondsAfterStart((89 + 90) * DAY);
      assert.equal(await find(id), undefined);
      assert.equal(await find(`client_${'0'.repeat(32)}`), undefined);
    });

    for (const [changes, code] of [
      [{ redirect_uris: [] }, 'invalid_client_metadata'],
      [{ redirect_uris: undefined }, 'invalid_client_metadata'],
      [{ redirect_uris: CALLBACK }, 'invalid_client_metadata'],
      [{ redirect_uris: Array.from({ length: 11 }, () => CALLBACK) }, 'invalid_client_metadata'],
      [{ client_name: 7 }, 'invalid_client_metadata'],
      [{ client_name: 'a'.repeat(1001) }, 'invalid_client_metadata'],
      [{ redirect_uris: [CALLBACK, 'javascript:alert(1)'] }, 'invalid_redirect_uri'],
      [{ redirect_uris: ['http://client.example/callback'] }, 'invalid_redirect_uri'],
    ] as const)
      it(`are refused completely if they send ${JSON.stringify(changes).slice(0, 60)}`, async () => {
        assert.equal((await oauthError(() => clients.register({ ...body, ...changes }))).code, code);
        assert.equal(writes, 0);
      });

    for (const nothing of [undefined, null, [], 'x'])
      it(`are refused if their description is ${JSON.stringify(nothing)}`, async () =>
        assert.equal((await oauthError(() => clients.register(nothing))).code, 'invalid_client_metadata'));

    it('may have no name, and may request OAuth features that Muster does not support', async () => {
      const { name } = await clients.register({
        redirect_uris: [CALLBACK],
        token_endpoint_auth_method: 'client_secret_basic',
        grant_types: ['implicit'],
      });
      assert.equal(name, 'An app');
    });
  });
});
