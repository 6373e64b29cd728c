import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { connect as connectAt, findConnections, planned } from '../../../packages/muster/src/connect/connect.ts';
import { findEndpoint } from '../../../packages/muster/src/endpoint.ts';
import { configFiles, connect, placeIn } from '../../support/connecting.ts';

const URL_OF_HUB = 'https://hub.example/mcp?workspace=alpha';

describe('muster connect', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(`${tmpdir()}/muster-connect-`);
    for (const path of ['.copilot', '.codeium/windsurf', '.codex']) mkdirSync(`${folder}/${path}`, { recursive: true });
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const written = (path: string): unknown => JSON.parse(readFileSync(`${folder}/${path}`, 'utf8'));

  it('writes the file of each client without a credential if the user signs in', () => {
    for (const name of Object.keys(configFiles)) connect(name, folder, URL_OF_HUB, false);
    const http = { type: 'http', url: URL_OF_HUB };
    assert.deepEqual(written('.mcp.json'), { mcpServers: { muster: http } });
    assert.deepEqual(written('.cursor/mcp.json'), { mcpServers: { muster: { url: URL_OF_HUB } } });
    assert.deepEqual(written('.vscode/mcp.json'), { servers: { muster: http } });
    assert.deepEqual(written('.gemini/settings.json'), { mcpServers: { muster: { httpUrl: URL_OF_HUB } } });
    const copilot = { ...http, tools: ['*'] };
    assert.deepEqual(written('.copilot/mcp-config.json'), { mcpServers: { muster: copilot } });
    const opencode = { type: 'remote', url: URL_OF_HUB, enabled: true };
    assert.deepEqual(written('opencode.json'), { mcp: { muster: opencode } });
    const windsurf = { serverUrl: URL_OF_HUB };
    assert.deepEqual(written('.codeium/windsurf/mcp_config.json'), { mcpServers: { muster: windsurf } });
    assert.deepEqual(written('.zed/settings.json'), { context_servers: { muster: { url: URL_OF_HUB } } });
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
      ['copilot', `Bearer \${MUSTER_TOKEN}`],
      ['opencode', 'Bearer {env:MUSTER_TOKEN}'],
      ['windsurf', `Bearer \${env:MUSTER_TOKEN}`],
    ] as const) {
      connect(name, folder, URL_OF_HUB, true);
      const { path } = connect(name, folder, URL_OF_HUB, true);
      const text = readFileSync(path, 'utf8');
      assert.ok(text.includes(wanted), text);
      assert.equal(text.split('promptString').length - 1, name === 'vscode' ? 1 : 0);
    }
  });

  it('writes no header for Zed, which replaces no variables, and explains it', () => {
    const { client, path } = connect('zed', folder, URL_OF_HUB, true);
    assert.doesNotMatch(readFileSync(path, 'utf8'), /MUSTER_TOKEN|headers/);
    assert.match(client.next(true), /cannot read MUSTER_TOKEN.*sign in/);
  });

  it('changes the file for all projects if asked, and only if the folder of the client exists', () => {
    const forUser = { ...placeIn(folder), forUser: true };
    assert.equal(connectAt('codex', forUser, URL_OF_HUB, true).path, `${folder}/.codex/config.toml`);
    const env = { CODEX_HOME: `${folder}/elsewhere` };
    assert.throws(() => connectAt('codex', { ...forUser, env }, URL_OF_HUB, true), /elsewhere does not exist.*Codex/);
    assert.throws(() => connectAt('vscode', forUser, URL_OF_HUB, true), /without --user/);
    rmSync(`${folder}/.copilot`, { recursive: true });
    assert.throws(() => connect('copilot', folder, URL_OF_HUB, true), /\.copilot does not exist.*Copilot CLI/);
  });

  it('uses the file opencode.jsonc if only that file exists', () => {
    writeFileSync(`${folder}/opencode.jsonc`, '{} // mine');
    assert.equal(connect('opencode', folder, URL_OF_HUB, true).path, `${folder}/opencode.jsonc`);
    writeFileSync(`${folder}/opencode.json`, '{}');
    assert.equal(connect('opencode', folder, URL_OF_HUB, true).path, `${folder}/opencode.json`);
  });

  it('returns the planned content without changing the file', () => {
    writeFileSync(`${folder}/.mcp.json`, '{}');
    const { text } = planned('claude', placeIn(folder), URL_OF_HUB, false);
    assert.equal(readFileSync(`${folder}/.mcp.json`, 'utf8'), '{}');
    connect('claude', folder, URL_OF_HUB, false);
    assert.equal(readFileSync(`${folder}/.mcp.json`, 'utf8'), text);
  });

  it('lists each file, and whether it contains the hub', () => {
    connect('claude', folder, URL_OF_HUB, false);
    connect('codex', folder, URL_OF_HUB, false);
    writeFileSync(`${folder}/opencode.jsonc`, '{"mcp": {"other": {}}} // mine');
    writeFileSync(`${folder}/.copilot/mcp-config.json`, '{');
    const states = Object.fromEntries(findConnections(placeIn(folder)).map(({ path, state }) => [path, state]));
    assert.equal(states[`${folder}/.mcp.json`], 'connected');
    assert.equal(states[`${folder}/.codex/config.toml`], 'connected');
    assert.equal(states[`${folder}/opencode.jsonc`], 'not connected');
    assert.equal(states[`${folder}/.copilot/mcp-config.json`], 'unreadable');
    assert.equal(states[`${folder}/.zed/settings.json`], 'no file');
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
    assert.throws(
      () => connect('emacs', folder, URL_OF_HUB, false),
      /claude, cursor, vscode, gemini, codex, copilot, opencode, windsurf, zed/,
    ));

  it('accepts only https addresses and addresses of this machine', () => {
    const wishes = { url: undefined, workspace: undefined, folder };
    for (const url of ['http://example.com/mcp', 'http://127.0.0.1.example.com/mcp', 'http://10.0.0.1/mcp'])
      assert.throws(() => findEndpoint({ ...wishes, url }), /unencrypted/, url);
    for (const url of ['https://example.com/mcp', 'http://localhost:1/mcp', 'http://127.0.0.1/mcp', 'http://[::1]/mcp'])
      assert.equal(String(findEndpoint({ ...wishes, url })), url);
  });

  it('warns in Claude Code if the plugin would send the credential unencrypted', () => {
    const script = fileURLToPath(new URL('../../../plugins/muster/scripts/pulse.mjs', import.meta.url));
    const shownFor = (url: string) => {
      const env = { ...process.env, TMPDIR: folder, MUSTER_URL: url, MUSTER_TOKEN: 'mk_one.secret' };
      const input = JSON.stringify({ session_id: 'one', hook_event_name: 'SessionStart' });
      return spawnSync(process.execPath, [script], { env, input, encoding: 'utf8' }).stdout;
    };
    assert.match(shownFor('http://example.com/mcp'), /unencrypted.*https/);
    assert.equal(shownFor('http://127.0.0.1:9/mcp'), '');
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
