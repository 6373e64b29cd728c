/** The page of examples/web in a real browser: a person signs in at the hub, watches tasks and adds a task. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { extname } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { axeViolations, openBrowser, openWindow } from '../../support/browser.ts';
import { close, listen, originOf } from '../../support/listening.ts';
import { seededAccount } from '../console/support/visit.ts';
import { registerAgent, type TestAgent } from '../support/agents.ts';
import { succeed } from '../support/calls.ts';
import { type Connection, connect, isRecord } from '../support/clients.ts';
import { endpointUrl, newWorkspace } from '../support/endpoint.ts';
import { ORIGIN } from '../support/signInPage.ts';
import { eventually } from '../support/waiting.ts';

const FILES = new URL('../../../examples/web', import.meta.url).pathname;
const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript' };

/** Serves the files of examples/web, like any static file server. */
async function serve(): Promise<Server> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const file = pathname === '/' ? '/index.html' : pathname;
    response.writeHead(200, { 'Content-Type': TYPES[extname(file)] ?? 'text/plain' });
    response.end(readFileSync(`${FILES}${file}`));
  });
  await listen(server);
  return server;
}

describe('the page of examples/web', () => {
  const workspace = newWorkspace('page');
  const complaints: string[] = [];
  let server: Server;
  let browser: Browser;
  let page: Page;
  let lead: Connection;
  let worker: TestAgent;

  before(async () => {
    [server, browser] = await Promise.all([serve(), openBrowser()]);
    const [leader, other] = await Promise.all([registerAgent('lead', { role: 'leader' }), registerAgent('worker')]);
    worker = other;
    lead = await connect('client 2026-07-28', endpointUrl('/coordination', { workspace }), leader.token);
    await succeed(lead, 'init_coordination', { goal: 'Ship it', master_plan: 'Step by step' });
    page = await (await openWindow(browser)).newPage();
    // The browser logs the status 401. It is expected, because the hub announces its sign-in with it.
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type()) && !message.text().includes('401'))
        complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
  });
  after(async () => {
    await browser?.close();
    await lead?.close();
    await close(server);
  });
  afterEach(() => assert.deepEqual(complaints, []));

  const item = (text: string) => page.getByRole('listitem').filter({ hasText: text });

  it('registers itself as an app, and signs a person in at the hub with PKCE', async () => {
    const { email, password } = await seededAccount('Ada Person');
    await page.goto(originOf(server));
    assert.deepEqual(await axeViolations(page), []);
    await page.getByLabel("Muster's MCP endpoint").fill(`${ORIGIN}/mcp`);
    await page.getByLabel('Workspace').fill(workspace);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(`${ORIGIN}/**`);
    const asked = new URL(page.url()).searchParams;
    if (asked.has('code_challenge')) assert.equal(asked.get('code_challenge_method'), 'S256');
    await page.getByText('Tasks in a page').first().waitFor();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    // Only leaders may create tasks. The sign-in page preselects a lower role.
    await page.locator('select#role').selectOption('leader');
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByLabel('New task').waitFor();
    assert.equal(new URL(page.url()).search, '', 'the code is removed from the address');
    assert.deepEqual(await axeViolations(page), []);
  });

  it("shows a new task and each change of the task's status without a reload", async () => {
    await succeed(lead, 'create_task', { description: 'Write the <b>parser</b>' });
    await item('Write the <b>parser</b> (available)').waitFor();
    const work = await connect('client 2026-07-28', endpointUrl('/coordination', { workspace }), worker.token);
    await succeed(work, 'register_agent', { agent_id: worker.id, role: 'worker' });
    const { task } = await succeed(work, 'claim_task', { agent_id: worker.id });
    assert.ok(isRecord(task));
    await item(`(claimed, ${worker.id})`).waitFor();
    const mine = { agent_id: worker.id, task_id: task['id'] };
    await succeed(work, 'complete_task', { ...mine, output: 'Written' });
    await work.close();
    await item('Write the <b>parser</b> (done').waitFor();
  });

  it('adds a task that the person enters', async () => {
    await page.getByLabel('New task').fill('Test the parser');
    await page.getByRole('button', { name: 'Add' }).click();
    await item('Test the parser (available)').waitFor();
    assert.match(JSON.stringify(await succeed(lead, 'get_all_tasks')), /Test the parser/);
  });

  it('replaces an invalid access token automatically; the person stays signed in after a reload', async () => {
    await page.evaluate(`{
      const session = JSON.parse(sessionStorage.getItem('muster-session'));
      sessionStorage.setItem('muster-session', JSON.stringify({ ...session, accessToken: 'ma_no_longer_good' }));
    }`);
    await page.reload();
    await item('Test the parser (available)').waitFor();
    assert.equal(await page.getByRole('alert').innerText(), '');
  });

  it('shows an error, and does not use the code, if another page started the sign-in', async () => {
    await page.goto(`${page.url()}?code=mc_of_somebody_else&state=made-up&iss=${encodeURIComponent(ORIGIN)}`);
    await page.getByText('This page did not start this sign-in').waitFor();
    await item('Test the parser (available)').waitFor();
    assert.match(await page.getByRole('alert').innerText(), /did not start/, 'the message is no longer shown');
  });

  it('revokes the access token at the hub when the person signs out', async () => {
    const session = 'JSON.parse(sessionStorage.getItem("muster-session")).accessToken';
    const token = String(await page.evaluate(session));
    const call = () =>
      fetch(`${ORIGIN}/mcp/rpc`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body: '{"jsonrpc": "2.0", "id": 1, "method": "access.whoami"}',
      });
    assert.equal((await call()).status, 200);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    // An instance may still accept the token for some seconds, because it caches credentials.
    await eventually('the token is no longer valid', async () => (await call()).status === 401 || undefined);
  });
});
