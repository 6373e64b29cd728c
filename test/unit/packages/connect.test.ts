import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { clients } from '../../../packages/muster/src/connect/clients.ts';
import { connect } from '../../../packages/muster/src/connect/connect.ts';
import { findEndpoint } from '../../../packages/muster/src/endpoint.ts';

const URL_OF_HUB = 'https://hub.example/mcp?workspace=alpha';

describe('muster connect', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(`${tmpdir()}/muster-connect-`);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const written = (path: string): unknown => JSON.parse(readFileSync(`${folder}/${path}`, 'utf8'));

  it('writes the file of each client without a credential if the user signs in', () => {
    for (const name of Object.keys(clients)) connect(name, folder, URL_OF_HUB, false);
    const http = { type: 'http', url: URL_OF_HUB };
    assert.deepEqual(written('.mcp.json'), { mcpServers: { muster: http } });
    assert.deepEqual(written('.cursor/mcp.json'), { mcpServers: { muster: { url: URL_OF_HUB } } });
    assert.deepEqual(written('.vscode/mcp.json'), { servers: { muster: http } });
    assert.deepEqual(written('.gemini/settings.json'), { mcpServers: { muster: { httpUrl: URL_OF_HUB } } });
    const codex = readFileSync(`${folder}/.codex/config.toml`, 'utf8');
    assert.equal(codex, `[mcp_servers.muster]\nurl = "${URL_OF_HUB}"\n`);
  });

  it('writes the name of the credential variable once, in the syntax of each client', () => {
    for (const [name, wanted] of [
      ['claude', `Bearer \${MUSTER_TOKEN}`],
      ['cursor', `Bearer \${env:MUSTER_TOKEN}`],
      ['vscode', `Bearer \${input:muster-token}`],
      ['gemini', 'Bearer $MUSTER_TOKEN'],
      ['codex', 'bearer_token_env_var = "MUSTER_TOKEN"'],
    ] as const) {
      connect(name, folder, URL_OF_HUB, true);
      const { path } = connect(name, folder, URL_OF_HUB, true);
      const text = readFileSync(path, 'utf8');
      assert.ok(text.includes(wanted), text);
      assert.equal(text.split('promptString').length - 1, name === 'vscode' ? 1 : 0);
    }
  });

  it('keeps other servers and settings in the file', () => {
    writeFileSync(`${folder}/.mcp.json`, '{"mcpServers": {"other": {"command": "other"}}, "more": 1}');
    connect('claude', folder, URL_OF_HUB, false);
    assert.deepEqual(written('.mcp.json'), {
      mcpServers: { other: { command: 'other' }, muster: { type: 'http', url: URL_OF_HUB } },
      more: 1,
    });
  });

  it('lists the supported clients if the named client is unknown', () =>
    assert.throws(() => connect('emacs', folder, URL_OF_HUB, false), /claude, cursor, vscode, gemini, codex/));

  it('accepts only https addresses and addresses of this machine', () => {
    const wishes = { url: undefined, workspace: undefined, folder };
    for (const url of ['http://example.com/mcp', 'http://127.0.0.1.example.com/mcp', 'http://10.0.0.1/mcp'])
      assert.throws(() => findEndpoint({ ...wishes, url }), /unencrypted/, url);
    for (const url of ['https://example.com/mcp', 'http://localhost:1/mcp', 'http://127.0.0.1/mcp', 'http://[::1]/mcp'])
      assert.equal(String(findEndpoint({ ...wishes, url })), url);
  });

  it('does not give the plugin a credential for a remote address without https', () => {
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

  it('finds the hub that runs in a clone, and suggests --url if no hub runs', () => {
    const wishes = { url: undefined, workspace: undefined, folder };
    assert.throws(() => findEndpoint(wishes), /--url/);
    assert.throws(() => findEndpoint({ ...wishes, url: 'hub' }), /must be an http\(s\) address/);
    mkdirSync(`${folder}/.dev`);
    writeFileSync(`${folder}/.dev/endpoint.json`, '{"origin": "http://127.0.0.1:5005"}');
    const found = findEndpoint({ ...wishes, workspace: 'alpha' });
    assert.equal(String(found), 'http://127.0.0.1:5005/mcp?workspace=alpha');
  });
});
