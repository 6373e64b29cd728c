/** Mistakes in HTTP requests: addresses, headers, credentials and bodies. */
import { gzipSync } from 'node:zlib';
import type { MistakesFixture } from './fixture.ts';
import { type Mistake, mistake } from './mistake.ts';

const LIST = '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}';

const withHeaders = (headers: (fixture: MistakesFixture) => Record<string, string>) => (fixture: MistakesFixture) =>
  fixture.http(fixture.url(), { body: LIST, headers: headers(fixture) });

const withBody = (body: string) => (fixture: MistakesFixture) => fixture.http(fixture.url(), { body });
const KEY_EXAMPLE = /Authorization: Bearer/;

export const httpMistakes: readonly Mistake[] = [
  mistake(
    'sends no credential',
    (fixture) => fixture.http(fixture.url(), { body: LIST, headers: { Authorization: '' } }),
    { happened: /401.*Missing credential/is, where: /Authorization/, next: KEY_EXAMPLE },
  ),
  {
    who: 'omits the word Bearer',
    make: withHeaders(({ worker }) => ({ Authorization: worker.token })),
    happened: /401.*without.{0,20}Bearer|401.*"Bearer".{0,40}missing|401.*lacks.{0,20}Bearer/is,
    where: /Authorization/,
    next: KEY_EXAMPLE,
  },
  mistake(
    'uses the scheme Token',
    withHeaders(({ worker }) => ({ Authorization: `Token ${worker.token}` })),
    { happened: /401.*Bearer/is, where: /Authorization/, next: KEY_EXAMPLE },
  ),
  mistake(
    'sends the API key in the query',
    (fixture) =>
      fixture.http(fixture.url('', { key: fixture.worker.token }), { body: LIST, headers: { Authorization: '' } }),
    { happened: /401/, where: /Authorization/, next: KEY_EXAMPLE },
  ),
  mistake(
    'mistypes a letter of the API key',
    withHeaders(({ worker }) => ({ Authorization: `Bearer ${worker.token.slice(0, -1)}` })),
    { happened: /401.*Invalid or revoked credential/is, where: /credential/i, next: /registerAgent/ },
  ),
  mistake(
    'sends the API key without its secret',
    withHeaders(({ worker }) => ({ Authorization: `Bearer ${worker.token.split('.')[0]}` })),
    { happened: /401.*Invalid or revoked credential/is, where: /credential/i, next: /<apiKey>\.<secret>/ },
  ),
  mistake(
    'sends an expired credential',
    withHeaders(({ expired }) => ({ Authorization: `Bearer ${expired}` })),
    { happened: /401.*expired/is, where: /credential/i, next: /registerAgent/ },
  ),
  mistake(
    'opens the URL in a browser',
    (fixture) => fixture.http(fixture.url(), { method: 'GET', headers: { Accept: 'text/html' } }),
    { happened: /HTTP 40[15]/, where: /MCP|address/, next: /POST|client/ },
  ),
  mistake('misspells the path', (fixture) => fixture.http(fixture.url('/coordinaton'), { body: LIST }), {
    happened: /404.*Unknown path/is,
    where: /path/,
    next: /\/mcp\/coordination"/,
  }),
  mistake('leaves a trailing comma in an object', withBody('{"jsonrpc":"2.0","id":1,\n"method":"tools/list",}'), {
    happened: /400.*not JSON/is,
    where: /line 2|position 4\d|column \d+/,
    next: /double-quoted|property|comma|expected/i,
  }),
  mistake('quotes JSON with apostrophes', withBody("{'jsonrpc':'2.0','id':1,'method':'tools/list'}"), {
    happened: /400.*not JSON/is,
    where: /line 1|position 1|column [12]/,
    next: /double-quoted|quote|expected/i,
  }),
  mistake('sends an empty body', withBody(''), {
    happened: /400.*(empty|no body|not JSON)/is,
    where: /body/,
    next: /JSON/,
  }),
  mistake(
    'declares the body as a form',
    withHeaders(() => ({ 'Content-Type': 'application/x-www-form-urlencoded' })),
    { happened: /415/, where: /content type/i, next: /application\/json/ },
  ),
  mistake(
    'compresses the body',
    (fixture) =>
      fixture.http(fixture.url(), { body: new Uint8Array(gzipSync(LIST)), headers: { 'Content-Encoding': 'gzip' } }),
    { happened: /415/, where: /encoding/i, next: /identity|uncompressed|without/i },
  ),
  mistake(
    'selects an unknown toolset',
    (fixture) => fixture.http(fixture.url('', { toolsets: 'todos' }), { body: LIST }),
    { happened: /400.*Unknown toolset/is, where: /todos/, next: /Toolsets: .*todo/ },
  ),
  mistake(
    'names a workspace with a slash',
    (fixture) => fixture.http(fixture.url('', { workspace: 'team/one' }), { body: LIST }),
    { happened: /400.*Invalid workspace name/is, where: /team\/one/, next: /letters, digits/ },
  ),
];
