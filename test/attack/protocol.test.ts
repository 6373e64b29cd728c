/**
 * Sends hostile text to every part of the endpoint that accepts text: resources, variables of resource templates,
 * completions, MCP methods, GET paths and sign-in. `arguments.test.ts` does this for tools.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { toolsets } from '../../functions/src/toolsets/index.ts';
import { assertNoLeak } from '../e2e/support/civility.ts';
import { type HttpResponse, headersFor, send } from '../e2e/support/http.ts';
import { defaultOrNightly } from '../support/nightly.ts';
import { NUMBER_HEADER } from './support/cost.ts';
import { ENVELOPE, message, REVISION } from './support/dialects.ts';
import { hostileText } from './support/hostileValues.ts';
import { billOf, faultsOf } from './support/judgment.ts';
import { startTarget, type Target } from './support/target.ts';

/** Number of random texts for each place that accepts text. */
const SAMPLES = defaultOrNightly(2, { night: 200 });

/** Texts to send in every place. Databases cannot store them, decoders cannot read them, or they are too long. */
const ALWAYS = [
  ...['\ud800', 'a\udc00b', '\0', 'x'.repeat(1900), 'x'.repeat(100_000), '\u{e0041}\u202e', '../..', ''],
  ...['%00', '%', '%zz', '%ed%a0%80', '%c0%ae%c0%ae', '%252e', '{taskId}', '😀'.repeat(400)],
];

function texts(place: string): readonly string[] {
  const seed = [...place].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 1_000_003, 0);
  const parameters = { numRuns: SAMPLES, seed: (fc.readConfigureGlobal().seed ?? 0) + seed };
  return [...ALWAYS, ...fc.sample(hostileText, parameters)];
}

const templates = toolsets.flatMap(({ templates: own = [] }) => own);
const resources = toolsets.flatMap(({ resources: own }) => own);

/** Valid values for the variables that do not get the hostile text, so that only this text can be rejected. */
const HARMLESS: Readonly<Record<string, string>> = { sessionType: 'coding', logType: 'output', date: '2026-11-22' };

function uriOf(template: string, variable: string, value: string): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) =>
    name === variable ? value : (HARMLESS[name] ?? 'task-1'),
  );
}

const variablesOf = (template: string) => [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => String(name));

/** Valid parameters of each method. A test replaces each "x" with a hostile text. */
const METHODS: Readonly<Record<string, object>> = {
  initialize: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
  ping: { _meta: { progressToken: 'x' } },
  'tools/list': { cursor: 'x' },
  'tools/call': { name: 'x', arguments: {}, _meta: { progressToken: 'x' } },
  'resources/list': { cursor: 'x' },
  'resources/templates/list': { cursor: 'x' },
  'resources/read': { uri: 'x' },
  'resources/subscribe': { uri: 'x' },
  'resources/unsubscribe': { uri: 'x' },
  'prompts/list': { cursor: 'x' },
  'prompts/get': { name: 'x', arguments: { a: 'x' } },
  'completion/complete': { ref: { type: 'ref/prompt', name: 'x' }, argument: { name: 'x', value: 'x' } },
  'logging/setLevel': { level: 'x' },
  'server/discover': { cursor: 'x' },
  'tasks/get': { taskId: 'x' },
  'notifications/cancelled': { requestId: 'x', reason: 'x' },
};

const replaced = (params: object, text: string): unknown =>
  JSON.parse(JSON.stringify(params), (_, value: unknown) => (value === 'x' ? text : value));

/** Forms that sign-in endpoints accept from a caller that has not signed in. */
const FORMS: Readonly<Record<string, readonly Readonly<Record<string, string>>[]>> = {
  token: [
    {
      grant_type: 'authorization_code',
      code: 'x',
      client_id: 'x',
      redirect_uri: 'http://127.0.0.1/x',
      code_verifier: 'v'.repeat(50),
      resource: 'x',
    },
    { grant_type: 'refresh_token', refresh_token: 'x', client_id: 'x', scope: 'x', resource: 'x' },
  ],
  revoke: [{ token: 'x', client_id: 'x', token_type_hint: 'x' }],
};

const AUTHORIZE = {
  response_type: 'code',
  client_id: 'x',
  redirect_uri: 'http://127.0.0.1/x',
  code_challenge: 'c'.repeat(43),
  code_challenge_method: 'S256',
  state: 'x',
  scope: 'x',
  resource: 'x',
};

/** Number of registrations that one test sends. The endpoint would reject more because of its rate limit. */
const MAX_REGISTRATIONS = 18;

describe('requests with hostile text, except tool calls', () => {
  let target: Target;
  let number = 0;
  let state = '';

  before(async () => {
    target = await startTarget('protocol');
    state = await target.elsewhere();
  });

  after(() => target.end());

  /** Sends one request, and asserts that its response and cost stay within the limits for every request. */
  async function judge(what: string, path: string, init: RequestInit, isPage = false): Promise<HttpResponse> {
    number += 1;
    target.meter.take();
    const headers = { ...headersFor(target.leader), ...init.headers, [NUMBER_HEADER]: String(number) };
    const answer = await send(`${target.server.url}${path}`, { redirect: 'manual', ...init, headers });
    const cost = await target.costOf(number);
    const bill = billOf(target.meter.take());
    const before = state;
    state = await target.elsewhere();
    const sent = `${path} ${String(init.body ?? '')}`;
    if (isPage) assertNoLeak(answer, `${what}: ${sent.slice(0, 300)} → ${answer.status}`);
    else {
      const attack = { tool: what, sent, answer, cost, bill, changedElsewhere: state !== before };
      assert.deepEqual(faultsOf(attack), []);
    }
    return answer;
  }

  const ask = (method: string, params: unknown, headers: Record<string, string> = {}) =>
    judge(method, '', { method: 'POST', body: message(method, params), headers });

  const inBothEras = async (method: string, params: object) => {
    await ask(method, params);
    await ask(method, { ...params, _meta: ENVELOPE }, { 'MCP-Protocol-Version': REVISION, 'Mcp-Method': method });
  };

  for (const { uri } of resources)
    it(`reading the resource ${uri} with hostile text at its end exceeds no limit of a request`, async () => {
      for (const text of texts(uri)) if (text !== '') await inBothEras('resources/read', { uri: `${uri}${text}` });
    });

  for (const { uriTemplate } of templates)
    for (const variable of variablesOf(uriTemplate)) {
      it(`reading the resource ${uriTemplate} with hostile ${variable} exceeds no limit of a request`, async function () {
        this.timeout(120_000);
        for (const text of texts(uriTemplate + variable)) {
          const encoded = encodeURIComponent(text.toWellFormed());
          for (const value of new Set([text, encoded]))
            await inBothEras('resources/read', { uri: uriOf(uriTemplate, variable, value) });
        }
      });

      it(`a completion of ${variable} in ${uriTemplate} for hostile text exceeds no limit`, async function () {
        this.timeout(120_000);
        for (const text of texts(variable + uriTemplate)) {
          const ref = { type: 'ref/resource', uri: uriTemplate };
          const argument = { name: variable, value: text };
          await inBothEras('completion/complete', { ref, argument });
          const context = { arguments: { ...HARMLESS, taskId: text, [text]: text } };
          await inBothEras('completion/complete', { ref, argument: { ...argument, value: '' }, context });
        }
      });
    }

  for (const [method, params] of Object.entries(METHODS))
    it(`the method ${method} with hostile parameters exceeds no limit of a request`, async function () {
      this.timeout(120_000);
      for (const text of texts(method)) await inBothEras(method, Object(replaced(params, text)));
    });

  it('an unknown method with hostile text as its name exceeds no limit of a request', async () => {
    for (const text of texts('method')) await ask(text, {});
  });

  it('a subscription to a resource is rejected if its URI has hostile text', async () => {
    for (const text of ['\ud800', 'a\udc00b', '\0']) {
      const notifications = { resourceSubscriptions: [`firebase://subscriptions/${text}`] };
      const headers = { 'MCP-Protocol-Version': REVISION, 'Mcp-Method': 'subscriptions/listen' };
      const answer = await ask('subscriptions/listen', { notifications, _meta: ENVELOPE }, headers);
      assert.match(answer.text, /-32602/);
    }
  });

  for (const path of ['agent/messages', 'agent/tasks', 'agent/status', 'events'])
    it(`GET ${path} with hostile text in the URL returns no 5xx status and reveals no internals`, async () => {
      for (const text of texts(path)) {
        const value = encodeURIComponent(text.toWellFormed().slice(0, 3000));
        const raw = /[^\x21-\x7e]/.test(text) ? value : text.slice(0, 3000);
        for (const query of [`workspace=${value}`, `subscriptionId=${value}`, `toolsets=${raw}`, `${raw}=1`])
          await judge(path, `${path}?${query}`, { method: 'GET' }, true);
        await judge(path, `${path}/${value}`, { method: 'GET' }, true);
      }
    });

  for (const [name, forms] of Object.entries(FORMS))
    it(`POST /${name} with hostile text in a field returns no 5xx status and reveals no internals`, async function () {
      this.timeout(120_000);
      for (const form of forms)
        for (const field of Object.keys(form))
          for (const text of texts(name + field)) {
            const body = new URLSearchParams({ ...form, [field]: text });
            const headers = { 'Content-Type': 'application/x-www-form-urlencoded', Authorization: '' };
            await judge(name, name, { method: 'POST', body: String(body).slice(0, 30_000), headers }, true);
          }
    });

  it('POST /register with hostile text returns no 5xx status and reveals no internals', async () => {
    for (const text of ALWAYS.slice(0, MAX_REGISTRATIONS / 2)) {
      const uris = { redirect_uris: ['http://127.0.0.1/x'] };
      for (const metadata of [{ ...uris, client_name: text }, { redirect_uris: [`http://127.0.0.1/${text}`] }]) {
        const body = JSON.stringify(metadata);
        const answer = await judge(
          'register',
          'register',
          { method: 'POST', body, headers: { Authorization: '' } },
          true,
        );
        assert.notEqual(answer.status, 429);
      }
    }
  });

  it('GET /authorize with hostile text returns no 5xx status and reveals no internals', async function () {
    this.timeout(120_000);
    for (const field of Object.keys(AUTHORIZE))
      for (const text of texts(`authorize${field}`)) {
        const query = new URLSearchParams({ ...AUTHORIZE, [field]: text.slice(0, 5000) });
        await judge('authorize', `authorize?${query}`, { method: 'GET', headers: { Authorization: '' } }, true);
      }
  });

  for (const path of ['authorize/person', 'authorize/decision', 'authorize?authorization='])
    it(`a request to /${path} with hostile text returns no 5xx status and reveals no internals`, async () => {
      for (const text of texts(path)) {
        const value = encodeURIComponent(text.toWellFormed().slice(0, 3000));
        const headers = { Cookie: `muster=${value}`, Authorization: '' };
        const body = JSON.stringify({ authorization: text, token: text, agentName: text, workspace: text });
        const init = path.endsWith('=') ? { method: 'GET', headers } : { method: 'POST', headers, body };
        await judge(path, path.endsWith('=') ? `${path}${value}` : path, init, true);
      }
    });
});
