/** The links by which editors add the hub: docs/guides/clients.md. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { clients } from '../../../packages/muster/src/connect/clients.ts';

const guide = readFileSync(new URL('../../../docs/guides/clients.md', import.meta.url), 'utf8');

const HERE = 'http://127.0.0.1:5005/mcp';

describe('the links of docs/guides/clients.md', () => {
  it('add to Cursor what muster connect writes', () => {
    const [link = ''] = /cursor:\/\/[^`]+/.exec(guide) ?? [];
    const { searchParams } = new URL(link);
    assert.equal(searchParams.get('name'), 'muster');
    const config: unknown = JSON.parse(Buffer.from(searchParams.get('config') ?? '', 'base64').toString());
    assert.deepEqual(config, clients['cursor']?.entry(HERE, false));
  });

  it('add to VS Code what muster connect writes', () => {
    const [, encoded = ''] = /vscode:mcp\/install\?([^`]+)/.exec(guide) ?? [];
    const config: unknown = JSON.parse(decodeURIComponent(encoded));
    assert.deepEqual(config, { name: 'muster', ...clients['vscode']?.entry(HERE, false) });
  });
});
