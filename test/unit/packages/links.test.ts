/** Links in docs/guides/clients.md that add the hub to an editor. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { clients } from '../../../packages/muster/src/connect/clients.ts';

const guide = readFileSync(new URL('../../../docs/guides/clients.md', import.meta.url), 'utf8');
const HERE = 'http://127.0.0.1:5005/mcp';

describe('links in docs/guides/clients.md', () => {
  it('add the same entry to Cursor as the command muster connect', () => {
    const [link = ''] = /cursor:\/\/[^`]+/.exec(guide) ?? [];
    const { searchParams } = new URL(link);
    assert.equal(searchParams.get('name'), 'muster');
    const config: unknown = JSON.parse(Buffer.from(searchParams.get('config') ?? '', 'base64').toString());
    assert.deepEqual(config, clients['cursor']?.entry(HERE, false));
  });

  it('add the same entry to VS Code as the command muster connect', () => {
    const [, encoded = ''] = /vscode:mcp\/install\?([^`]+)/.exec(guide) ?? [];
    const config: unknown = JSON.parse(decodeURIComponent(encoded));
    assert.deepEqual(config, { name: 'muster', ...clients['vscode']?.entry(HERE, false) });
  });
});
