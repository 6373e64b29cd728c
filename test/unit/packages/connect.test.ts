import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { clients } from '../../../packages/muster/src/connect/clients.ts';
import { connect } from '../../../packages/muster/src/connect/connect.ts';
import { findEndpoint } from '../../../packages/muster/src/endpoint.ts';
import { screenOf } from '../../../packages/muster/src/status/screen.ts';

const URL_OF_HUB = 'https://hub.example/mcp?workspace=alpha';

describe('muster connect', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(`${tmpdir()}/muster-connect-`);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const written = (path: string): unknown => JSON.parse(readFileSync(`${folder}/${path}`, 'utf8'));

  it('writes the file of each client, for signing in', () => {
    for (const name of Object.keys(clients)) connect(name, folder, URL_OF_HUB, false);
    const http = { type: 'http', url: URL_OF_HUB };
    assert.deepEqual(written('.mcp.json'), { mcpServers: { muster: http } });
    assert.deepEqual(written('.cursor/mcp.json'), { mcpServers: { muster: { url: URL_OF_HUB } } });
    assert.deepEqual(written('.vscode/mcp.json'), { servers: { muster: http } });
    assert.deepEqual(written('.gemini/settings.json'), { mcpServers: { muster: { httpUrl: URL_OF_HUB } } });
  });

  it('names the variable with the credential in the language of each client, once', () => {
    for (const [name, wanted] of [
      ['claude', `Bearer \${MUSTER_TOKEN}`],
      ['cursor', `Bearer \${env:MUSTER_TOKEN}`],
      ['vscode', `Bearer \${input:muster-token}`],
      ['gemini', 'Bearer $MUSTER_TOKEN'],
    ] as const) {
      connect(name, folder, URL_OF_HUB, true);
      const { path } = connect(name, folder, URL_OF_HUB, true);
      const text = readFileSync(path, 'utf8');
      assert.ok(text.includes(wanted), text);
      assert.equal(text.split('promptString').length - 1, name === 'vscode' ? 1 : 0);
    }
  });

  it('leaves alone whatever else is there, and what it cannot read', () => {
    writeFileSync(`${folder}/.mcp.json`, '{"mcpServers": {"other": {"command": "other"}}, "more": 1}');
    connect('claude', folder, URL_OF_HUB, false);
    assert.deepEqual(written('.mcp.json'), {
      mcpServers: { other: { command: 'other' }, muster: { type: 'http', url: URL_OF_HUB } },
      more: 1,
    });
    mkdirSync(`${folder}/.vscode`);
    writeFileSync(`${folder}/.vscode/mcp.json`, '{ // mine\n}');
    assert.throws(() => connect('vscode', folder, URL_OF_HUB, false), /not plain JSON/);
    assert.equal(readFileSync(`${folder}/.vscode/mcp.json`, 'utf8'), '{ // mine\n}');
    assert.throws(() => connect('emacs', folder, URL_OF_HUB, false), /claude, cursor, vscode, gemini/);
  });

  it('sends a credential over https, or to this machine', () => {
    const wishes = { url: undefined, workspace: undefined, folder };
    for (const url of ['http://example.com/mcp', 'http://127.0.0.1.example.com/mcp', 'http://10.0.0.1/mcp'])
      assert.throws(() => findEndpoint({ ...wishes, url }), /unencrypted/, url);
    for (const url of [
      'https://example.com/mcp',
      'http://localhost:1/mcp',
      'http://127.0.0.1/mcp',
      'http://[::1]/mcp',
    ])
      assert.equal(String(findEndpoint({ ...wishes, url })), url);
  });

  it('gives the plugin no credential for an address that others can read', () => {
    const script = fileURLToPath(new URL('../../../plugins/muster/scripts/headers.mjs', import.meta.url));
    const headersFor = (url: string) => {
      const env = { ...process.env, MUSTER_URL: url, MUSTER_TOKEN: 'mk_one.secret' };
      return spawnSync(process.execPath, [script], { env, encoding: 'utf8' });
    };
    assert.deepEqual(JSON.parse(headersFor('https://example.com/mcp').stdout), {
      Authorization: 'Bearer mk_one.secret',
    });
    assert.deepEqual(JSON.parse(headersFor('http://127.0.0.1:5005/mcp').stdout), {
      Authorization: 'Bearer mk_one.secret',
    });
    const { stdout, stderr } = headersFor('http://example.com/mcp');
    assert.equal(stdout, '{}');
    assert.match(stderr, /unencrypted/);
  });

  it('finds the hub that runs in a clone, and says what to do where none does', () => {
    const wishes = { url: undefined, workspace: undefined, folder };
    assert.throws(() => findEndpoint(wishes), /--url/);
    assert.throws(() => findEndpoint({ ...wishes, url: 'hub' }), /no http\(s\) address/);
    mkdirSync(`${folder}/.dev`);
    writeFileSync(`${folder}/.dev/endpoint.json`, '{"origin": "http://127.0.0.1:5005"}');
    const found = findEndpoint({ ...wishes, workspace: 'alpha' });
    assert.equal(String(found), 'http://127.0.0.1:5005/mcp?workspace=alpha');
  });
});

describe('what muster status shows', () => {
  it('is cut to the width, and steers no terminal', () => {
    const shown = screenOf(
      {
        goal: 'Ship\u001b[2J it\nnow',
        progress: { percent: 50, total: 2, available: 0, claimed: 0, in_progress: 1, done: 1, failed: 0 },
        doing: [
          { agent: 'ada', task: 'task-2', description: 'x'.repeat(200), status: 'in_progress', since: '' },
        ],
        waiting: [],
        questions: [],
      },
      60,
    );
    assert.ok(shown.includes('Goal: Ship [2J it now\nTasks: 1 of 2 done (50 %)\n'), shown);
    assert.ok(shown.split('\n').every((line) => line.length <= 60));
  });

  it('cuts lines between characters, if an emoji does not fit', () => {
    const emoji = '\u{1f680}'.repeat(60);
    const progress = { percent: 0, total: 1, available: 1, claimed: 0, in_progress: 0, done: 0, failed: 0 };
    for (const width of [20, 21]) {
      const shown = screenOf({ goal: emoji, progress, doing: [], waiting: [], questions: [] }, width);
      assert.equal(shown.split('\n')[0], `Goal: ${'\u{1f680}'.repeat(7)}`);
    }
  });
});
