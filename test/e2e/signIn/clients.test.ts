/** Real clients sign in with only the endpoint's URL and a person's consent. Source: docs/guides/sign-in.md. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import type { Browser } from 'playwright-core';
import { z } from 'zod';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { COLLECTIONS } from '../../../functions/src/kernel/firestore/paths.ts';
import { openBrowser } from '../../support/browser.ts';
import { installedClaudeCode } from '../support/claudeCode.ts';
import { connect } from '../support/clients.ts';
import { newWorkspace, tokenOf } from '../support/endpoint.ts';
import { startScriptedModel } from '../support/scriptedModel.ts';
import { allow, ORIGIN } from '../support/signInPage.ts';
import { startTerminal } from '../support/terminal.ts';
import { eventually } from '../support/waiting.ts';

const MCP = `${ORIGIN}/mcp`;
const ADA = { email: 'person@example.com', password: 'only-for-the-emulators' };
const BEN = { email: 'person2@example.com', password: 'only-for-the-emulators' };
const AUTHORIZE = /https?:\/\/[\w.:-]+\/authorize\?[\w%&=.+~-]+/;

describe('the sign-in', () => {
  let browser: Browser;

  before(async () => {
    browser = await openBrowser();
  });
  after(() => browser?.close());

  it('lets a person with an email invitation sign in from Claude Code, which then claims a task', async () => {
    const workspace = newWorkspace('guild');
    const email = `${workspace}@example.com`;
    const ada = await connect(
      'client 2026-07-28',
      `${MCP}?workspace=${workspace}&toolsets=all`,
      await tokenOf('person'),
    );
    const made = async (name: string, input: object) => {
      const { isError, structured } = await ada.call(name, { ...input });
      assert.equal(isError, false, JSON.stringify(structured));
    };
    await made('coordination_init_coordination', { goal: 'Make the hall fit for winter' });
    await made('coordination_create_task', { description: 'Mend the roof' });
    await made('access_invite', { email, role: 'worker' });
    await ada.close();
    const reported = await mailTo(email);
    const [url = ''] = /http\S+\/mcp\b/.exec(reported) ?? [];
    assert.equal(url, MCP, reported);

    const model = await startScriptedModel([
      () => ({ tool: 'mcp__muster__access_whoami', input: {} }),
      ([me]) => ({ tool: 'mcp__muster__coordination_claim_task', input: { agent_id: agentIdIn(me?.text) } }),
    ]);
    const claude = await installedClaudeCode(model.url);
    try {
      await claude.run('mcp', 'add', '--transport', 'http', 'muster', url);
      assert.match(await claude.run('mcp', 'list'), /muster: .*Needs authentication/);
      const login = await claude.start('mcp', 'login', 'muster');
      const [address] = await login.shows(AUTHORIZE);
      const asked = await allow(browser, address, { email, password: undefined });
      assert.match(asked, /Claude Code/);
      assert.match(asked, /claude\.ai/);
      await login.ended();
      // On a busy machine, Claude Code's connection check may time out before the list of tools arrives.
      await eventually('Claude Code is connected', async () =>
        /muster: .*✔ Connected/.test(await claude.run('mcp', 'list')) ? true : undefined,
      );
      await claude.run('-p', 'Claim a task.', '--allowedTools', 'mcp__muster');
      const [, claimed] = model.turns.at(-1)?.results ?? [];
      assert.match(claimed?.text ?? '', /Mend the roof/);
      assert.deepEqual(claude.outside, []);
    } finally {
      await claude.close();
      await model.close();
    }
  });

  it('lets Gemini CLI register itself, sign Ada in and connect', async () => {
    const home = mkdtempSync(`${tmpdir()}/muster-gemini-`);
    try {
      mkdirSync(`${home}/.gemini`);
      mkdirSync(`${home}/work`);
      writeFileSync(
        `${home}/.gemini/settings.json`,
        JSON.stringify({
          mcpServers: { muster: { httpUrl: MCP } },
          security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
          general: { enableAutoUpdate: false },
          privacy: { usageStatisticsEnabled: false },
        }),
      );
      const gemini = (...args: readonly string[]) =>
        startTerminal(new URL('../../clients/node_modules/.bin/gemini', import.meta.url).pathname, args, {
          cwd: `${home}/work`,
          env: {
            PATH: process.env['PATH'],
            HOME: home,
            GEMINI_API_KEY: 'none-of-anyone',
            GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:9',
            BROWSER: '/bin/true',
          },
        });
      const login = await gemini('-p', '/mcp auth muster');
      await login.shows(/continue\? \[Y\/n\]/);
      login.type('Y\r');
      const [address] = await login.shows(AUTHORIZE);
      assert.match(await allow(browser, address, ADA), /Gemini CLI/);
      await login.shows(/Successfully authenticated/);
      // After the sign-in, Gemini CLI exits with 42, because it cannot list its tools in this mode.
      await login.ended(42);
      const listed = await gemini('mcp', 'list');
      assert.match(await listed.ended(), /muster: .*Connected/);
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });

  it('lets the MCP Inspector register itself, sign Ben in and call a tool', async () => {
    const home = mkdtempSync(`${tmpdir()}/muster-inspector-`);
    const program = new URL(
      '../../clients/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
      import.meta.url,
    ).pathname;
    const args = [program, '--cli', '--transport', 'http', '--server-url', MCP, '--format', 'json'];
    try {
      const inspector = await startTerminal(
        process.execPath,
        [...args, '--connect-timeout', '60000', '--method', 'tools/call', '--tool-name', 'access_whoami'],
        { cwd: home, env: { PATH: process.env['PATH'], HOME: home, BROWSER: '/bin/true' } },
      );
      const [address] = await inspector.shows(AUTHORIZE);
      await allow(browser, address, BEN);
      assert.match(await inspector.ended(), /Ben Person/);
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });
});

function agentIdIn(whoami = ''): string {
  return z.object({ agent: z.object({ id: z.string() }) }).parse(JSON.parse(whoami)).agent.id;
}

async function mailTo(email: string): Promise<string> {
  const mails = await firestore().collection(COLLECTIONS.mail).where('to', 'array-contains', email).get();
  return mails.docs.map((document) => JSON.stringify(document.data())).join('\n');
}
