/** What becomes of a request's body: it is read when all else about the request is right, and within bounds. */
import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { systemToolset } from '../../support/fixture-toolset.ts';
import { memoryPorts, type RunningEndpoint, serveEndpoint } from '../../support/mcp-endpoint.ts';
import { type RawAnswer, RawConnection } from '../../support/rawHttp.ts';

const JSON_TYPE = { 'Content-Type': 'application/json' };
const CREDENTIAL = { Authorization: 'Bearer leader-key' };
const PING = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
const MIB = 1024 * 1024;

describe("a request's body", () => {
  const ports = memoryPorts();
  let endpoint: RunningEndpoint;
  const open: RawConnection[] = [];

  before(async () => {
    endpoint = await serveEndpoint({ ...ports, toolsets: [systemToolset] });
  });

  afterEach(() => {
    for (const connection of open.splice(0)) connection.socket.destroy();
  });

  after(() => endpoint.close());

  async function connection(): Promise<RawConnection> {
    const made = await RawConnection.open(endpoint.url);
    open.push(made);
    return made;
  }

  function refusedInJson({ status, headers, body }: RawAnswer, expected: number, message: RegExp): void {
    assert.equal(status, expected, body);
    assert.equal(headers.get('content-type'), 'application/json', body);
    assert.match(body, message);
    assert.doesNotThrow(() => JSON.parse(body), body);
  }

  for (const [what, line, headers, status, message] of [
    ['no credential', 'POST /mcp', JSON_TYPE, 401, /Authorization: Bearer/],
    [
      'a credential that is none',
      'POST /mcp',
      { ...JSON_TYPE, Authorization: 'Bearer no' },
      401,
      /not known/,
    ],
    ['another method', 'PUT /mcp', { ...JSON_TYPE, ...CREDENTIAL }, 405, /POST/],
    ['another path', 'POST /none', { ...JSON_TYPE, ...CREDENTIAL }, 404, /nothing at this path/],
    [
      'a foreign origin',
      'POST /mcp',
      { ...JSON_TYPE, ...CREDENTIAL, Origin: 'https://evil.example' },
      403,
      /origin/,
    ],
    [
      'another content type',
      'POST /mcp',
      { ...CREDENTIAL, 'Content-Type': 'text/plain' },
      415,
      /application\/json/,
    ],
    ['a compression', 'POST /mcp', { ...JSON_TYPE, ...CREDENTIAL, 'Content-Encoding': 'gzip' }, 415, /gzip/],
  ] as const) {
    it(`is not waited for where the request has ${what}`, async () => {
      const raw = await connection();
      raw.head(line, { ...headers, 'Content-Length': '1000' });
      refusedInJson(await raw.answer(), status, message);
    });
  }

  it('is not waited for where it would be too long', async () => {
    for (const credential of [{}, CREDENTIAL]) {
      const raw = await connection();
      raw.head('POST /mcp', { ...JSON_TYPE, ...credential, 'Content-Length': String(4 * MIB + 1) });
      refusedInJson(await raw.answer(), 413, /4194304 bytes.*4194305/);
    }
  });

  it('is cut at 4 MiB where its length is not said', async () => {
    const raw = await connection();
    raw.head('POST /mcp', { ...JSON_TYPE, ...CREDENTIAL, 'Transfer-Encoding': 'chunked' });
    let answer: RawAnswer | undefined;
    const answered = raw.answer().then((one) => {
      answer = one;
    });
    const chunk = `${MIB.toString(16)}\r\n${' '.repeat(MIB)}\r\n`;
    let sent = 0;
    while (answer === undefined) {
      assert.ok(sent < 64, 'the endpoint reads on and on');
      sent += 1;
      if (!raw.socket.write(chunk)) {
        await Promise.race([answered, new Promise((resolve) => raw.socket.once('drain', resolve))]);
      }
    }
    refusedInJson(answer, 413, /4194304 bytes/);
  });

  it('is never unpacked, whatever it says it is packed in', async () => {
    for (const encoding of [
      'gzip',
      'GZIP',
      'br',
      'deflate',
      'zstd',
      'identity, gzip',
      'compress',
      'x\u00ff',
    ]) {
      for (const body of [gzipSync(PING), 'not packed at all']) {
        const raw = await connection();
        const length = { 'Content-Length': String(Buffer.byteLength(body)) };
        raw.head('POST /mcp', { ...JSON_TYPE, ...CREDENTIAL, ...length, 'Content-Encoding': encoding });
        raw.write(body);
        const answer = await raw.answer();
        refusedInJson(answer, 415, /as it is/);
        assert.equal(answer.headers.get('accept-encoding'), 'identity');
      }
    }
  });

  it('is read as it is, with or without its length, also where it says so', async () => {
    for (const headers of [
      { 'Content-Encoding': 'identity' },
      { 'Content-Type': 'application/json; charset=utf-8' },
    ]) {
      const raw = await connection();
      raw.head('POST /mcp', {
        ...JSON_TYPE,
        ...CREDENTIAL,
        ...headers,
        'Content-Length': String(PING.length),
      });
      raw.write(PING);
      assert.equal((await raw.answer()).status, 200);
      raw.head('POST /mcp', { ...JSON_TYPE, ...CREDENTIAL, ...headers, 'Transfer-Encoding': 'chunked' });
      for (const letter of PING) raw.write(`1\r\n${letter}\r\n`);
      raw.write('0\r\n\r\n');
      assert.equal((await raw.answer()).status, 200);
    }
  });

  it('leaves the connection good for more where it was refused and came after all', async () => {
    const raw = await connection();
    raw.head('POST /mcp', { ...JSON_TYPE, 'Content-Length': String(3 * MIB) });
    assert.equal((await raw.answer()).status, 401);
    raw.write(' '.repeat(3 * MIB));
    raw.head('POST /mcp', { ...JSON_TYPE, ...CREDENTIAL, 'Content-Length': String(PING.length) });
    raw.write(PING);
    assert.equal((await raw.answer()).status, 200);
  });

  it('is asked for only when it is wanted', async () => {
    const expecting = { ...JSON_TYPE, Expect: '100-continue', 'Content-Length': String(PING.length) };
    const refused = await connection();
    refused.head('POST /mcp', expecting);
    assert.equal((await refused.answer()).status, 401);
    const wanted = await connection();
    wanted.head('POST /mcp', { ...expecting, ...CREDENTIAL });
    assert.equal((await wanted.answer()).status, 100);
    wanted.write(PING);
    assert.equal((await wanted.answer()).status, 200);
  });

  it('may break off', async () => {
    ports.entries.length = 0;
    const raw = await connection();
    raw.head('POST /mcp', { ...JSON_TYPE, ...CREDENTIAL, 'Content-Length': '1000' });
    raw.write(PING);
    raw.socket.end();
    await raw.closed();
    const next = await connection();
    next.head('POST /mcp', { ...JSON_TYPE, ...CREDENTIAL, 'Content-Length': String(PING.length) });
    next.write(PING);
    assert.equal((await next.answer()).status, 200);
    assert.deepEqual(
      ports.entries.filter(({ level }) => level === 'error'),
      [],
    );
  });

  it('may have an address that nobody can decode', async () => {
    for (const path of ['/%ff', '/%', '/mcp/%c3%28', '/mcp/%zz?x=%ff']) {
      const raw = await connection();
      raw.head(`POST ${path}`, { ...JSON_TYPE, ...CREDENTIAL, 'Content-Length': String(PING.length) });
      raw.write(PING);
      refusedInJson(await raw.answer(), 404, /nothing at this path/);
    }
  });

  it('is refused without a word where Node cannot read the request, and never with a page', async () => {
    for (const [line, headers, body, status] of [
      ['POST /mcp', { 'Transfer-Encoding': 'chunked' }, 'zz\r\n', 400],
      ['POST /mcp', { 'Content-Length': 'x' }, '', 400],
      ['POST /mcp', { 'X-Long': 'x'.repeat(20_000) }, '', 431],
      ['NONE /mcp', {}, '', 400],
    ] as const) {
      const raw = await connection();
      raw.head(line, { ...JSON_TYPE, ...CREDENTIAL, ...headers });
      raw.write(body);
      const answer = await raw.answer();
      assert.deepEqual([answer.status, answer.body], [status, ''], line);
    }
  });
});
