/** The real clients find the hub in the files that `muster connect` writes. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { connect } from '../../../packages/muster/src/connect/connect.ts';
import { newFolder, removeFolder } from '../../../runner/test/support/folders.ts';
import { registerAgent } from '../support/agents.ts';
import { endpointUrl, newWorkspace } from '../support/endpoint.ts';

const PROGRAMS = new URL('../../clients/node_modules', import.meta.url).pathname;

/** For each client: the file with its settings, the command that lists its servers, and the expected output. */
const CLIENTS = {
  claude: { file: '.mcp.json', program: '.bin/claude', listed: /muster: .*Connected/ },
  gemini: { file: '.gemini/settings.json', program: '.bin/gemini', listed: /muster: .*Connected/ },
  codex: { file: '.codex/config.toml', program: '.bin/codex', listed: /muster +http.*MUSTER_TOKEN +enabled/ },
  copilot: { file: '.copilot/mcp-config.json', program: '.bin/copilot', listed: /muster \(http\)/ },
  opencode: { file: 'opencode.json', program: 'opencode-linux-x64/bin/opencode', listed: /muster.*connected/ },
} as const;

describe('clients after muster connect', () => {
  let home: string;

  beforeEach(() => {
    home = newFolder();
  });
  afterEach(() => removeFolder(home));

  for (const [name, { file, program, listed }] of Object.entries(CLIENTS))
    it(`list the hub: ${name}`, async function () {
      if (name === 'opencode' && process.platform !== 'linux') this.skip(); // Only this build of opencode is installed.
      const { token } = await registerAgent('listed');
      mkdirSync(`${home}/${file}`.replace(/[^/]+$/, ''), { recursive: true });
      if (name === 'gemini')
        writeFileSync(`${home}/${file}`, '{ // mine\n"security": {"folderTrust": {"enabled": false}}}');
      const place = { folder: home, home, env: {}, forUser: name === 'codex' };
      connect(name, place, endpointUrl('', { workspace: newWorkspace('listed') }), true);
      const settings = { enableAllProjectMcpServers: true };
      mkdirSync(`${home}/.claude`, { recursive: true });
      writeFileSync(`${home}/.claude/settings.json`, JSON.stringify(settings));
      const env = {
        PATH: process.env['PATH'],
        HOME: home,
        TMPDIR: home,
        CLAUDE_CONFIG_DIR: `${home}/.claude`,
        DISABLE_AUTOUPDATER: '1',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        HTTP_PROXY: 'http://127.0.0.1:9',
        HTTPS_PROXY: 'http://127.0.0.1:9',
        NO_PROXY: '127.0.0.1,localhost',
        MUSTER_TOKEN: token,
      };
      const running = promisify(execFile)(`${PROGRAMS}/${program}`, ['mcp', 'list'], { cwd: home, env });
      running.child.stdin?.end();
      const { stdout, stderr } = await running;
      assert.match(stdout + stderr, listed);
      assert.ok(!stdout.includes(token) && !stderr.includes(token));
    });
});
