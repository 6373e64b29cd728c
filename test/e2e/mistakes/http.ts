/** Mistakes in HTTP requests: addresses, headers, credentials and bodies. */
import { gzipSync } from 'node:zlib';
import type { MistakesFixture } from './fixture.ts';
import type { Mistake } from './mistake.ts';

const LIST = '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}';

const withHeaders = (headers: (fixture: MistakesFixture) => Record<string, string>) => (fixture: MistakesFixture) =>
  fixture.http(fixture.url(), { body: LIST, headers: headers(fixture) });

const withBody = (body: string) => (fixture: MistakesFixture) => fixture.http(fixture.url(), { body });
const KEY_EXAMPLE = /Authorization: Bearer/;

export const httpMistakes: readonly Mistake[] = [
  {
    who: 'sends no credential',
    make: (fixture) => fixture.http(fixture.url(), { body: LIST, headers: { Authorization: '' } }),
    happened: /401.*Missing credential/is,
    where: /Authorization/,
    next: KEY_EXAMPLE,
  },
  {
    who: 'omits the word Bearer',
    make: withHeaders(({ worker }) => ({ Authorization: worker.token })),
    happened: /401.*without.{0,20}Bearer|401.*"Bearer".{0,40}missing|401.*lacks.{0,20}Bearer/is,
    where: /Authorization/,
    next: KEY_EXAMPLE,
  },
  {
    who: 'uses the scheme Token',
    make: withHeaders(({ worker }) => ({ Authorization: `Token ${worker.token}` })),
    happened: /401.*Bearer/is,
    where: /Authorization/,
    next: KEY_EXAMPLE,
  },
  {
    who: 'sends the API key in the query',
    make: (fixture) =>
      fixture.http(fixture.url('', { key: fixture.worker.token }), { body: LIST, headers: { Authorization: '' } }),
    happened: /401/,
    where: /Authorization/,
    next: KEY_EXAMPLE,
  },
  {
    who: 'mistypes a letter of the API key',
    make: withHeaders(({ worker }) => ({ Authorization: `Bearer ${worker.token.slice(0, -1)}` })),
    happened: /401.*Invalid or revoked credential/is,
    where: /credential/i,
    next: /registerAgent/,
  },
  {
    who: 'sends the API key without its secret',
    make: withHeaders(({ worker }) => ({ Authorization: `Bearer ${worker.token.split('.')[0]}` })),
    happened: /401.*Invalid or revoked credential/is,
    where: /credential/i,
    next: /<apiKey>\.<secret>/,
  },
  {
    who: 'sends an expired credential',
    make: withHeaders(({ expired }) => ({ Authorization: `Bearer ${expired}` })),
    happened: /401.*expired/is,
    where: /credential/i,
    next: /registerAgent/,
  },
  {
    who: 'opens the URL in a browser',
    make: (fixture) => fixture.http(fixture.url(), { method: 'GET', headers: { Accept: 'text/html' } }),
    happened: /HTTP 40[15]/,
    where: /MCP|address/,
    next: /POST|client/,
  },
  {
    who: 'misspells the path',
    make: (fixture) => fixture.http(fixture.url('/coordinaton'), { body: LIST }),
    happened: /404.*Unknown path/is,
    where: /path/,
    next: /\/mcp\/coordination"/,
  },
  {
    who: 'leaves a trailing comma in an object',
    make: withBody('{"jsonrpc":"2.0","id":1,\n"method":"tools/list",}'),
    happened: /400.*not JSON/is,
    where: /line 2|position 4\d|column \d+/,
    next: /double-quoted|property|comma|expected/i,
  },
  {
    who: 'quotes JSON with apostrophes',
    make: withBody("{'jsonrpc':'2.0','id':1,'method':'tools/list'}"),
    happened: /400.*not JSON/is,
    where: /line 1|position 1|column [12]/,
    next: /double-quoted|quote|expected/i,
  },
  {
    who: 'sends an empty body',
    make: withBody(''),
    happened: /400.*(empty|no body|not JSON)/is,
    where: /body/,
    next: /JSON/,
  },
  {
    who: 'declares the body as a form',
    make: withHeaders(() => ({ 'Content-Type': 'application/x-www-form-urlencoded' })),
    happened: /415/,
    where: /content type/i,
    next: /application\/json/,
  },
  {
    who: 'compresses the body',
    make: (fixture) =>
      fixture.http(fixture.url(), { body: new Uint8Array(gzipSync(LIST)), headers: { 'Content-Encoding': 'gzip' } }),
    happened: /415/,
    where: /encoding/i,
    next: /identity|uncompressed|without/i,
  },
  {
    who: 'selects an unknown toolset',
    make: (fixture) => fixture.http(fixture.url('', { toolsets: 'todos' }), { body: LIST }),
    happened: /400.*Unknown toolset/is,
    where: /todos/,
    next: /Toolsets: .*todo/,
  },
  {
    who: 'names a workspace with a slash',
    make: (fixture) => fixture.http(fixture.url('', { workspace: 'team/one' }), { body: LIST }),
    happened: /400.*Invalid workspace name/is,
    where: /team\/one/,
    next: /letters, digits/,
  },
];
