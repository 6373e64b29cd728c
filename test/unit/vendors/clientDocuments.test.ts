/** Documents of OAuth clients are read only from public hosts, with a maximum size and without redirects. */
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type RequestOptions, type Server } from 'node:https';
import {
  HttpsClientDocuments,
  isPublicAddress,
} from '../../../functions/src/vendors/clientdocument/clientDocuments.ts';
import { selfSigned } from '../../support/certificate.ts';
import { close, listen, portOf } from '../../support/listening.ts';
import { wordsOf } from '../../support/words.ts';

const HOST = 'client.example';
const DOCUMENT = new URL(`https://${HOST}/oauth/client.json?version=1`);
const JSON_TYPE = { 'content-type': 'application/json' };
const MAX_BYTES = 5 * 1024;

/** Error that is thrown instead of a connection to a public host. */
const NOWHERE = new Error('somebody would be connected to');

describe('document of an OAuth client', () => {
  const certificate = selfSigned(HOST);
  let server: Server;
  let port: number;
  let resolved: string[];
  let requests: IncomingMessage[];
  let connectedTo: (string | undefined)[];
  let answer: (request: IncomingMessage, response: ServerResponse) => void;

  before(async () => {
    server = createServer(certificate, (request, response) => {
      requests.push(request);
      connectedTo.push(request.socket.localAddress);
      answer(request, response);
    });
    await listen(server);
    port = portOf(server);
  });

  after(() => close(server));

  beforeEach(() => {
    [resolved, requests, connectedTo] = [[], [], []];
    answer = (_request, response) => response.writeHead(200, JSON_TYPE).end('{"client_id": 1}');
  });

  /** The host name resolves only to the address of the test server, which this test treats as public. */
  function documents(options: RequestOptions = {}, addresses: readonly string[] = ['127.0.0.1']) {
    return new HttpsClientDocuments(undefined, {
      resolve: async (host) => {
        resolved.push(host);
        return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
      },
      isPublic: () => true,
      options: { port, ca: certificate.cert, ...options },
    });
  }

  const refusal = async (fetching: Promise<unknown>): Promise<string> => {
    const error: unknown = await fetching.then(
      () => assert.fail('the document was read'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof Error);
    return error.message;
  };

  it('is read from the server of its host name', async () => {
    assert.deepEqual(await documents().fetch(DOCUMENT), { text: '{"client_id": 1}', maxAgeSeconds: undefined });
    const [request] = requests;
    assert.equal(request?.url, '/oauth/client.json?version=1');
    assert.equal(request?.method, 'GET');
    assert.equal(request?.headers.host, `${HOST}:${port}`);
    assert.equal(request?.headers.accept, 'application/json');
    assert.equal(request?.headers.cookie ?? request?.headers.authorization, undefined);
  });

  it('is read from the address that was verified, even if the name resolves to another one later', async () => {
    // No other resolver knows the name, so the client can connect only to the verified address.
    const rebinding = new HttpsClientDocuments(undefined, {
      resolve: async (host) => {
        resolved.push(host);
        return [{ address: resolved.length === 1 ? '127.0.0.1' : '127.0.0.9', family: 4 }];
      },
      isPublic: (address) => address === '127.0.0.1',
      options: { port, ca: certificate.cert },
    });
    await rebinding.fetch(DOCUMENT);
    assert.deepEqual(resolved, [HOST]);
    assert.deepEqual(connectedTo, ['127.0.0.1']);
    assert.equal(await refusal(rebinding.fetch(DOCUMENT)), 'the host is not a public server');
    assert.equal(requests.length, 1);
  });

  it('is not read from a server without a valid certificate', async () => {
    assert.equal(await refusal(documents({ ca: [] }).fetch(DOCUMENT)), 'the server cannot be reached');
    const foreign = new URL('https://other.example/client');
    assert.equal(await refusal(documents().fetch(foreign)), 'the server cannot be reached');
    assert.deepEqual(requests, []);
  });

  describe('depending on the addresses of its host', () => {
    /** Uses the check of addresses that is used in production. */
    function standard(addresses: readonly string[]) {
      return new HttpsClientDocuments(undefined, {
        resolve: async () => addresses.map((address) => ({ address, family: 4 })),
        isPublic: isPublicAddress,
        options: { lookup: (_host, _options, done) => done(NOWHERE, '', 0) },
      });
    }

    for (const address of [
      ...wordsOf(`
      10.0.0.1 10.255.255.255 127.0.0.1 127.255.0.1 169.254.169.254 172.16.0.1 192.168.1.1 100.64.0.1
      100.127.255.255 0.0.0.0 0.1.2.3 192.0.0.8 198.18.0.1 224.0.0.1 255.255.255.255 :: ::1 fc00::1 fd12:3456::1
      fe80::1 fe80::1%eth0 ff02::1 fec0::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:7f00:1 ::127.0.0.1
      64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::a00:1 2002:7f00:1:: 2002:a9fe:a9fe::1 2001::1 2001:db8::1
      100::1 nonsense
    `),
      '',
    ])
      it(`is not read from ${address}`, async () => {
        assert.equal(await refusal(standard([address]).fetch(DOCUMENT)), 'the host is not a public server');
        const among = standard(['93.184.215.14', address, '2606:4700::6810:84e5']);
        assert.equal(await refusal(among.fetch(DOCUMENT)), 'the host is not a public server');
      });

    it('is not read if the host name has no address', async () => {
      assert.equal(await refusal(standard([]).fetch(DOCUMENT)), 'the host is not a public server');
      const unknown = new HttpsClientDocuments(undefined, {
        resolve: async () => Promise.reject(new Error('ENOTFOUND')),
        isPublic: isPublicAddress,
        options: {},
      });
      assert.equal(await refusal(unknown.fetch(DOCUMENT)), 'the host name does not resolve');
    });

    it('is read if all addresses of the host are public', async () => {
      for (const address of ['93.184.215.14', '1.1.1.1', '2606:4700::6810:84e5', '::ffff:1.1.1.1'])
        await assert.rejects(
          standard([address]).fetch(DOCUMENT),
          (error) => error instanceof Error && error.cause === NOWHERE,
          address,
        );
    });
  });

  for (const url of [
    'https://127.0.0.1/client',
    'https://93.184.215.14/client',
    'https://2130706433/client',
    'https://0x7f000001/client',
    'https://0177.0.0.1/client',
    'https://0x7f.1/client',
    'https://127.1/client',
    'https://127.0.0.1./client',
    'https://[::1]/client',
    'https://[2606:4700::6810:84e5]/client',
    'https://[::ffff:1.1.1.1]/client',
    'http://client.example/client',
    'file:///etc/passwd',
    'data:application/json,{}',
  ])
    it(`must have an address with https and a host name: ${url}`, async () => {
      assert.equal(await refusal(documents().fetch(new URL(url))), 'the URL must use https and a host name');
      assert.deepEqual([resolved, requests], [[], []]);
    });

  it('must have an address with the default port', async () => {
    const standard = new HttpsClientDocuments(undefined, {
      resolve: async (host) => {
        resolved.push(host);
        return [];
      },
      isPublic: () => true,
      options: {},
    });
    const elsewhere = new URL('https://client.example:8443/client');
    assert.equal(await refusal(standard.fetch(elsewhere)), 'the port must be 443');
    assert.deepEqual(resolved, []);
  });

  for (const status of [301, 302, 303, 307, 308])
    it(`is not read from the target of a redirect: status ${status}`, async () => {
      answer = (_request, response) =>
        response.writeHead(status, { ...JSON_TYPE, location: `https://${HOST}/other` }).end('{}');
      assert.equal(await refusal(documents().fetch(DOCUMENT)), `the server returned ${status}`);
      assert.equal(requests.length, 1);
    });

  for (const status of [201, 204, 206, 304, 404, 500])
    it(`is accepted only with the status 200: ${status}`, async () => {
      answer = (_request, response) => response.writeHead(status, JSON_TYPE).end();
      assert.equal(await refusal(documents().fetch(DOCUMENT)), `the server returned ${status}`);
    });

  it('may have at most 5 KiB, with or without a declared length', async () => {
    const full = `"${'x'.repeat(MAX_BYTES - 2)}"`;
    answer = (_request, response) => response.writeHead(200, JSON_TYPE).end(full);
    assert.equal((await documents().fetch(DOCUMENT)).text, full);
    answer = (_request, response) => response.writeHead(200, JSON_TYPE).end(`${full} `);
    assert.equal(await refusal(documents().fetch(DOCUMENT)), 'the document exceeds 5120 bytes');
    const closed = new Promise<void>((resolve) => {
      answer = (_request, response) => {
        response.writeHead(200, JSON_TYPE).once('close', resolve);
        const more = (): boolean => response.destroyed || response.write('x'.repeat(1000), () => more());
        more();
      };
    });
    assert.equal(await refusal(documents().fetch(DOCUMENT)), 'the document exceeds 5120 bytes');
    await closed;
  });

  it('is refused if it does not arrive before the timeout', async () => {
    // Replaces the production timeout of five seconds.
    let ending = new AbortController();
    const end = () => ending.abort();
    answer = (_request, response) => {
      response.writeHead(200, JSON_TYPE).write('{', () => setTimeout(end, 200));
    };
    const started = documents({ signal: ending.signal }).fetch(DOCUMENT);
    assert.equal(await refusal(started), 'the server did not send the document in time');
    ending = new AbortController();
    answer = end;
    const silent = documents({ signal: ending.signal }).fetch(DOCUMENT);
    assert.equal(await refusal(silent), 'the server cannot be reached');
    answer = (_request, response) => {
      response.writeHead(200, { ...JSON_TYPE, 'content-length': '100' });
      response.write('{', () => setTimeout(() => response.destroy(), 20));
    };
    assert.equal(await refusal(documents().fetch(DOCUMENT)), 'the server did not send the document in time');
  });

  for (const type of ['text/html', 'text/json', 'application/jsonp', 'application/javascript', 'image/json', undefined])
    it(`is refused with the content type ${type}`, async () => {
      answer = (_request, response) =>
        response.writeHead(200, type === undefined ? {} : { 'content-type': type }).end('{}');
      assert.equal(await refusal(documents().fetch(DOCUMENT)), 'the content type is not application/json');
    });

  for (const type of ['application/json; charset=utf-8', 'Application/JSON', 'application/client+json'])
    it(`is accepted with the content type ${type}`, async () => {
      answer = (_request, response) => response.writeHead(200, { 'content-type': type }).end('{}');
      assert.equal((await documents().fetch(DOCUMENT)).text, '{}');
    });

  for (const [output, seconds] of [
    ['max-age=600', 600],
    ['public, Max-Age=3600, immutable', 3600],
    ['no-store', 0],
    ['no-cache, max-age=600', 0],
    ['max-age=-1', undefined],
    ['s-maxage=600', undefined],
    ['private', undefined],
  ] as const)
    it(`is cached for the time that its header states: ${output}`, async () => {
      answer = (_request, response) => response.writeHead(200, { ...JSON_TYPE, 'cache-control': output }).end('{}');
      assert.equal((await documents().fetch(DOCUMENT)).maxAgeSeconds, seconds);
    });
});
