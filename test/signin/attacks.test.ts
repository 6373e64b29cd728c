/** Known attacks on sign-in, from publications and from the lists of the standards: RFC 9700; RFC 6819. */
import assert from 'node:assert/strict';
import { type AddressInfo, createServer } from 'node:net';
import fc from 'fast-check';
import { getAuth } from 'firebase-admin/auth';
import { firebaseApp } from '../../functions/src/kernel/realtime/database.ts';
import { HttpsClientDocuments } from '../../functions/src/vendors/clientdocument/clientDocuments.ts';
import { defaultOrNightly } from '../support/nightly.ts';
import { App, REDIRECT } from './support/app.ts';
import { Deployment, type Someone } from './support/deployment.ts';
import { idTokenOf, locationIn, Visitor } from './support/visitor.ts';

describe('attacks on sign-in', () => {
  let deployment: Deployment;
  let ada: Someone;
  let eve: Someone;
  let app: App;

  // Each test has a separate deployment, because tests use up the rate limit of their network address.
  beforeEach(async () => {
    deployment = await Deployment.start();
    ada = await deployment.person('Ada', 'leader');
    eve = await deployment.person('Eve', 'leader');
    app = await App.registered(deployment, 'Pencil');
  });
  afterEach(() => deployment?.stop());

  describe('code injection', () => {
    it('fails with the code of another sign-in, because the verifier does not match', async () => {
      const [hers, his] = [await app.begin(), await app.begin()];
      const stolen = await new Visitor().allow(hers.url, ada);
      const injected = new URL(await new Visitor().allow(his.url, eve, { agentName: 'Injected' }));
      injected.searchParams.set('code', stolen.searchParams.get('code') ?? '');
      await assert.rejects(app.redeem(injected, his), { error: 'invalid_grant' });
    });

    it('is prevented, because requests without a challenge or with the method plain are rejected', async () => {
      for (const more of [
        { code_challenge: undefined },
        { code_challenge_method: 'plain' },
        { code_challenge_method: undefined },
        { code_challenge: 'short' },
      ]) {
        const { status, headers } = await new Visitor().open((await app.begin(more)).url);
        const back = new URL(headers.get('location') ?? '');
        assert.deepEqual([status, back.searchParams.get('error')], [302, 'invalid_request'], JSON.stringify(more));
        assert.equal(back.searchParams.get('iss'), deployment.origin);
        assert.equal(back.searchParams.get('code'), null);
      }
    });

    it('cannot use the implicit flow or the hybrid flow, because both are unsupported', async () => {
      for (const response_type of ['token', 'code token', 'id_token', 'none']) {
        const { headers } = await new Visitor().open((await app.begin({ response_type })).url);
        const error = new URL(headers.get('location') ?? '').searchParams.get('error');
        assert.equal(error, 'unsupported_response_type');
      }
      for (const response_mode of ['fragment', 'form_post']) {
        const { headers } = await new Visitor().open((await app.begin({ response_mode })).url);
        assert.match(headers.get('location') ?? '', /error=invalid_request/);
      }
    });
  });

  describe('mix-up attacks', () => {
    it('are detected by clients, because every response names its issuer', async () => {
      const started = await app.begin();
      const back = await new Visitor().allow(started.url, ada);
      assert.deepEqual(back.searchParams.getAll('iss'), [deployment.origin]);
      const forged = new URL(back);
      forged.searchParams.set('iss', 'https://evil.example');
      await assert.rejects(app.redeem(forged, started), /iss/);
      forged.searchParams.delete('iss');
      await assert.rejects(app.redeem(forged, started), /iss/);
    });

    it('cannot use parameters such as code or iss that were planted in a registered redirect', async () => {
      const headers = { 'content-type': 'application/json' };
      const redirect = 'http://127.0.0.1:9999/callback?code=planted&state=planted&iss=planted&keep=this';
      const body = JSON.stringify({ redirect_uris: [redirect] });
      const response = await fetch(`${deployment.origin}/register`, { method: 'POST', headers, body });
      const { client_id } = JSON.parse(await response.text());
      const other = await App.described(deployment, client_id);
      const started = await other.begin({ redirect_uri: redirect });
      const back = await new Visitor().allow(started.url, ada, { agentName: 'Planted' });
      for (const name of ['code', 'state', 'iss']) assert.equal(back.searchParams.getAll(name).length, 1);
      assert.equal(back.searchParams.get('keep'), 'this');
      assert.ok((await other.redeem(back, started, redirect)).access_token);
    });
  });

  describe("other people's sign-ins", () => {
    it('cannot be continued without the cookie of the browser that started them', async () => {
      const visitor = new Visitor();
      const page = await visitor.settings((await app.begin()).url);
      const stranger = new Visitor();
      await stranger.settings((await app.begin()).url);
      const idToken = await idTokenOf(eve);
      for (const cookie of [undefined, stranger.cookie, `${visitor.cookie}x`, '__Host-muster-sign-in=']) {
        const thief = new Visitor();
        thief.cookie = cookie;
        const { authorization } = page;
        const identified = await thief.post(page.personUrl, { authorization, idToken });
        assert.deepEqual([identified.status, identified.text], [400, '{"error":"other_browser"}']);
        const decided = await thief.post(page.decisionUrl, { authorization, allow: false });
        assert.equal(decided.text, '{"error":"other_browser"}');
        const opened = await thief.open(page.continueUrl);
        assert.equal(opened.status, 400);
        assert.match(opened.text, /another browser/);
      }
      const proposed = await visitor.identify(page, ada);
      const own = new Visitor();
      own.cookie = visitor.cookie;
      const unapproved = await own.decide(page, { ...proposed, approval: 'x'.repeat(43) });
      assert.deepEqual([unapproved.status, unapproved.text], [400, '{"error":"expired"}']);
      assert.equal((await visitor.decide(page, proposed, { agentName: 'Own' })).status, 200);
    });

    it('do not expose the code of an email link if the link is opened in another browser', async () => {
      const { authorization, continueUrl } = await new Visitor().settings((await app.begin()).url);
      const link = `${continueUrl}&apiKey=key&oobCode=secret-code&mode=signIn&lang=en`;
      const elsewhere = new Visitor();
      for (const [opened, says] of [
        [link, /another browser/],
        [link.replace(authorization, 'a'.repeat(20)), /too long|expired|begin again/i],
      ] as const) {
        const { status, headers } = await elsewhere.open(opened);
        const location = headers.get('location') ?? '';
        assert.deepEqual([status, headers.get('referrer-policy')], [303, 'no-referrer']);
        assert.equal(location, opened.split('&')[0]);
        const shown = await elsewhere.open(location);
        assert.equal(shown.status, 400);
        assert.match(shown.text, says);
      }
    });

    it('accept one decision of the person, after the person signed in and within ten minutes', async () => {
      const visitor = new Visitor();
      const page = await visitor.settings((await app.begin()).url);
      const toolsets = ['todo'];
      const nobody = { approval: '', agentName: 'x', role: 'worker', toolsets, proposed: toolsets };
      const early = {
        ...nobody,
        person: { name: '' },
        roles: [],
        workspaces: [],
        readonly: { value: false, fixed: false },
      };
      assert.equal((await visitor.decide(page, early)).text, '{"error":"expired"}');
      const proposed = await visitor.identify(page, ada);
      const [one, other] = await Promise.all([visitor.decide(page, proposed), visitor.decide(page, proposed)]);
      assert.deepEqual([one.status, other.status].sort(), [200, 400]);
      const late = await visitor.settings((await app.begin()).url);
      deployment.move(10 * 60_000 + 1000);
      const { authorization } = late;
      const { text } = await visitor.post(late.decisionUrl, { authorization, allow: false });
      assert.equal(text, '{"error":"expired"}');
      deployment.moveBack();
    });

    it('accept requests only if they come from the sign-in page', async () => {
      const visitor = new Visitor();
      const page = await visitor.settings((await app.begin()).url);
      const body = { authorization: page.authorization, idToken: await idTokenOf(ada) };
      for (const headers of [
        { origin: 'https://evil.example' },
        { origin: 'null' },
        { origin: deployment.origin.replace('127.0.0.1', 'localhost') },
        { 'content-type': 'text/plain' },
        { 'content-type': 'application/x-www-form-urlencoded' },
      ]) {
        const { status, text } = await visitor.post(page.personUrl, body, headers);
        assert.deepEqual([status, text], [400, '{"error":"invalid"}'], JSON.stringify(headers));
      }
      const asked = await fetch(page.personUrl, {
        method: 'OPTIONS',
        headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
      });
      assert.equal(asked.headers.get('access-control-allow-origin'), null);
    });

    it('reject an ID token if the person signed in more than ten minutes ago', async () => {
      const idToken = await idTokenOf(ada);
      const at = async (milliseconds: number) => {
        deployment.move(milliseconds);
        const visitor = new Visitor();
        const { authorization, personUrl } = await visitor.settings((await app.begin()).url);
        const { status, text } = await visitor.post(personUrl, { authorization, idToken });
        return [status, JSON.parse(text).error];
      };
      assert.deepEqual(await at(9 * 60_000), [200, undefined]);
      assert.deepEqual(await at(2 * 60_000), [400, 'sign_in_again']);
    });

    it('reject forged ID tokens, and ID tokens of disabled accounts or of another project', async () => {
      const visitor = new Visitor();
      const page = await visitor.settings((await app.begin()).url);
      const say = async (idToken: string) => {
        const { authorization } = page;
        return JSON.parse((await visitor.post(page.personUrl, { authorization, idToken })).text).error;
      };
      const good = await idTokenOf(ada);
      const [header, payload = ''] = good.split('.');
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
      const forged = (changes: object) =>
        `${header}.${Buffer.from(JSON.stringify({ ...claims, ...changes })).toString('base64url')}.`;
      assert.equal(await say(forged({ aud: 'elsewhere' })), 'sign_in_again');
      assert.equal(await say(forged({ kind: 'agent' })), 'sign_in_again');
      for (const nonsense of ['', 'x', 'a.b.c', 'x'.repeat(5000)]) assert.equal(await say(nonsense), 'sign_in_again');
      const [hers, disabled] = [await idTokenOf(eve), { disabled: true }];
      await getAuth(firebaseApp()).updateUser(eve.uid, disabled);
      assert.equal(await say(hers), 'sign_in_again');
      assert.equal(await say(good), undefined);
      await getAuth(firebaseApp()).updateUser(eve.uid, { disabled: false });
    });
  });

  describe('the sign-in page', () => {
    it('cannot be shown in a frame, and runs only its own script', async () => {
      const { headers } = await new Visitor().open((await app.begin()).url);
      assert.equal(headers.get('x-frame-options'), 'DENY');
      const policy = headers.get('content-security-policy') ?? '';
      for (const part of [
        "default-src 'none'",
        "script-src 'self';",
        "style-src 'self';",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "require-trusted-types-for 'script'",
      ])
        assert.ok(policy.includes(part), part);
      assert.ok(!/unsafe|\*|data:/.test(policy), policy);
      assert.equal(headers.get('referrer-policy'), 'no-referrer');
      assert.equal(headers.get('cache-control'), 'no-store');
      const cookie = headers.get('set-cookie') ?? '';
      assert.match(cookie, /^__Host-[^;]+; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=600$/);
    });

    it('shows a misleading app name as plain text', async () => {
      const names = [
        '</script><script>alert(1)</script>',
        '<img src=x onerror=alert(1)>',
        'Claude\u202egnp.exe',
        'Muster\u200b\nis verified by muster.example',
        `${'A'.repeat(5000)}`.slice(0, 900),
        '{{{settings}}}{{#texts}}',
        '"><base href=https://evil.example>',
      ];
      for (const name of names) {
        const spoofing = await App.registered(deployment, name);
        const { text } = await new Visitor().open((await spoofing.begin()).url);
        assert.ok(!text.includes('<img') && !text.includes('alert(1)<') && !text.includes('<base'), name);
        assert.ok(!/[\u202e\u200b]/.test(text), name);
        assert.ok(!text.includes('A'.repeat(61)), name);
        assert.equal(text.match(/<script/g)?.length, 2, name);
        assert.match(text, /unverified app/i);
      }
    });
  });

  describe('redirects of a sign-in to an app', () => {
    it('never lead to an unregistered address; the sign-in page shows an error', async () => {
      const stranger = 'https://evil.example/phish';
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify({ client_name: 'Evil', redirect_uris: [stranger] });
      const response = await fetch(`${deployment.origin}/register`, { method: 'POST', headers, body });
      const evil = await App.described(deployment, JSON.parse(await response.text()).client_id);
      const {
        status,
        headers: sent,
        text,
      } = await new Visitor().open((await evil.begin({ redirect_uri: stranger, response_type: 'token' })).url);
      assert.deepEqual([status, sent.get('location')], [400, null]);
      assert.match(text, /evil\.example/);
      for (const redirect_uri of [stranger, 'javascript:alert(1)', '//evil.example', `${REDIRECT}#x`, '']) {
        const opened = await new Visitor().open((await app.begin({ redirect_uri })).url);
        if (redirect_uri === '') assert.equal(opened.status, 200, 'the only registered address');
        else assert.deepEqual([opened.status, opened.headers.get('location')], [400, null], redirect_uri);
      }
    });

    it('are refused if a parameter is repeated, because its value is ambiguous', async () => {
      const { url } = await app.begin();
      for (const name of ['redirect_uri', 'client_id', 'state', 'resource']) {
        const doubled = new URL(url);
        doubled.searchParams.append(name, 'https://evil.example');
        const { status, headers } = await new Visitor().open(doubled);
        assert.deepEqual([status, headers.get('location')], [400, null], name);
      }
      const body = 'grant_type=refresh_token&grant_type=authorization_code&client_id=x&refresh_token=x';
      const form = { 'content-type': 'application/x-www-form-urlencoded' };
      const answer = await fetch(`${deployment.origin}/token`, { method: 'POST', headers: form, body });
      assert.equal(JSON.parse(await answer.text()).error, 'invalid_request');
    });

    it('cannot be registered for addresses that run scripts or expose secrets', async () => {
      const other = await Deployment.start();
      for (const redirect of [
        'javascript:alert(1)',
        'data:text/html,x',
        'file:///etc/passwd',
        'http://evil.example/callback',
        'https://user:secret@example.com/callback',
        'https://example.com/callback#fragment',
        'cursor://other/oauth/callback',
        'intent://x',
        'callback',
        ' https://example.com',
        'https://example.com/\n',
        `https://example.com/${'x'.repeat(3000)}`,
      ]) {
        const headers = { 'content-type': 'application/json' };
        const body = JSON.stringify({ redirect_uris: ['https://good.example/callback', redirect] });
        const response = await fetch(`${other.origin}/register`, { method: 'POST', headers, body });
        assert.deepEqual(
          [response.status, JSON.parse(await response.text()).error],
          [400, 'invalid_redirect_uri'],
          redirect,
        );
      }
      await other.stop();
    });
  });

  describe('client documents at internal addresses', () => {
    it('are not fetched by IP address, by host name or through another port', async () => {
      const asked: string[] = [];
      const inside = createServer((socket) => {
        asked.push('connected');
        socket.destroy();
      });
      await new Promise<void>((resolve) => inside.listen(0, resolve));
      const { port } = inside.address() as AddressInfo;
      const exposed = await Deployment.start({ documents: new HttpsClientDocuments() });
      for (const client_id of [
        `https://localhost:${port}/client.json`,
        `https://127.0.0.1:${port}/client.json`,
        `https://[::1]:${port}/client.json`,
        'https://localhost/client.json',
        'https://127.0.0.1/client.json',
        'https://[::ffff:7f00:1]/client.json',
        'https://169.254.169.254/computeMetadata/v1/',
        'https://no-such-host.invalid/client.json',
      ]) {
        const url = new URL(`${exposed.origin}/authorize`);
        url.searchParams.set('client_id', client_id);
        const { status, text } = await new Visitor().open(url);
        assert.equal(status, 400, client_id);
        assert.match(text, /verify the app|does not know this app/, client_id);
      }
      assert.deepEqual(asked, []);
      await exposed.stop();
      inside.close();
    });
  });

  describe('request floods', () => {
    it('of registrations, token guesses or unknown documents are rate-limited by network address', async () => {
      const flooded = await Deployment.start();
      const post = async (path: string, type: string, body: string) => {
        const headers = { 'content-type': type };
        const response = await fetch(`${flooded.origin}${path}`, { method: 'POST', headers, body });
        await response.arrayBuffer();
        return { status: response.status, wait: response.headers.get('retry-after') };
      };
      const many = async (
        count: number,
        one: (number: number) => Promise<{ status: number; wait?: string | null }>,
      ) => {
        const answers = await Promise.all(Array.from({ length: count }, (_, number) => one(number)));
        const refused = answers.filter(({ status }) => status === 429);
        for (const { wait } of refused) if (wait !== undefined) assert.ok(Number(wait) >= 1);
        return [refused.length > 0, refused.length < count, answers.some(({ status }) => status >= 500)];
      };
      const registering = await many(40, (number) =>
        post('/register', 'application/json', JSON.stringify({ redirect_uris: [`https://example.com/${number}`] })),
      );
      assert.deepEqual(registering, [true, true, false]);
      const guessing = await many(150, (number) =>
        post(
          '/token',
          'application/x-www-form-urlencoded',
          `grant_type=refresh_token&client_id=x&refresh_token=mr_${'a'.repeat(20)}.${String(number).padStart(43, 'a')}`,
        ),
      );
      assert.deepEqual(guessing, [true, true, false]);
      const fetching = await many(30, async (number) => {
        const url = new URL(`${flooded.origin}/authorize`);
        url.searchParams.set('client_id', `https://example.com/${number}`);
        return { status: (await new Visitor().open(url)).status };
      });
      assert.deepEqual(fetching, [true, true, false]);
      assert.ok(flooded.documents.fetched.length <= 12);
      await flooded.stop();
    });

    it('of guessed tokens do not block the refresh of a valid token', async () => {
      const { refresh_token } = await app.signIn(ada);
      const guess = {
        grant_type: 'refresh_token',
        client_id: 'x',
        refresh_token: `mr_${'b'.repeat(20)}.${'b'.repeat(43)}`,
      };
      await Promise.all(Array.from({ length: 60 }, () => app.token(guess)));
      const all = await Promise.all([1, 2, 3].map(() => app.refresh(refresh_token)));
      assert.equal(all.length, 3);
    });

    it('of guessed tokens from an address do not block apps with valid tokens at that address', async () => {
      const noisy = await Deployment.start();
      const person = await noisy.person('Ada', 'leader');
      const client = await App.registered(noisy, 'Pencil');
      const { refresh_token } = await client.signIn(person);
      const guesses = Array.from({ length: 150 }, (_, number) =>
        client.token({
          grant_type: 'refresh_token',
          client_id: 'x',
          refresh_token: `mr_${'c'.repeat(20)}.${String(number).padStart(43, 'c')}`,
        }),
      );
      const statuses = (await Promise.all(guesses)).map(({ status }) => status);
      assert.ok(statuses.includes(429), 'the address is rate-limited');
      const renewed = await client.refresh(refresh_token);
      const form = new URLSearchParams({ token: renewed.refresh_token });
      const revoked = await fetch(`${noisy.origin}/revoke`, { method: 'POST', body: form });
      assert.equal(revoked.status, 200);
      await assert.rejects(client.refresh(renewed.refresh_token));
      await noisy.stop();
    });
  });

  describe('random input to the sign-in endpoints', () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        'code',
        'S256',
        REDIRECT,
        'https://127.0.0.1/x',
        'https://[::1]/x',
        '__proto__',
        'a'.repeat(5000),
        '\0',
      ),
    );

    it('never causes a 5xx status, and POST requests return valid JSON', async () => {
      const names = ['client_id', 'redirect_uri', 'response_type', 'state', 'scope', 'resource', 'code', 'grant_type'];
      const parameters = fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string()), text, { maxKeys: 8 });
      await fc.assert(
        fc.asyncProperty(parameters, fc.json(), fc.constantFrom('/token', '/revoke'), async (given, json, path) => {
          const query = new URLSearchParams(given);
          const opened = await new Visitor().open(`${deployment.origin}/authorize?${query}`);
          assert.ok(opened.status === 200 || (opened.status >= 400 && opened.status < 500), `${opened.status}`);
          const form = await fetch(`${deployment.origin}${path}`, { method: 'POST', body: query });
          assert.ok(form.status < 500, `${path}: ${form.status}`);
          JSON.parse(await form.text());
          const visitor = new Visitor();
          for (const one of ['/register', '/authorize/person', '/authorize/decision']) {
            const headers = { 'content-type': 'application/json', origin: deployment.origin };
            const sent = await fetch(`${deployment.origin}${one}`, { method: 'POST', headers, body: json });
            assert.ok(sent.status >= 400 && sent.status < 500, `${one}: ${sent.status}`);
            JSON.parse(await sent.text());
          }
          void visitor;
        }),
        { numRuns: defaultOrNightly(25, { night: 2000 }) },
      );
      const broken = deployment.entries.filter(({ level }) => level === 'error');
      assert.deepEqual(broken, []);
    });

    it('that is too long is rejected with the status 400, 413 or 429', async () => {
      for (const path of ['/token', '/register', '/authorize/person']) {
        const headers = {
          'content-type': path === '/token' ? 'application/x-www-form-urlencoded' : 'application/json',
          origin: deployment.origin,
        };
        const long = await fetch(`${deployment.origin}${path}`, { method: 'POST', headers, body: 'x'.repeat(100_000) });
        assert.ok([400, 413, 429].includes(long.status), `${path}: ${long.status}`);
        await long.arrayBuffer();
      }
    });
  });

  it('cannot use a cancelled sign-in, because it returns no code and accepts no other decision', async () => {
    const started = await app.begin();
    const visitor = new Visitor();
    const page = await visitor.settings(started.url);
    const proposed = await visitor.identify(page, ada);
    const { authorization } = page;
    const back = locationIn((await visitor.post(page.decisionUrl, { authorization, allow: false })).text);
    await assert.rejects(app.redeem(back, started), { error: 'access_denied' });
    assert.equal((await visitor.decide(page, proposed)).text, '{"error":"expired"}');
  });
});
