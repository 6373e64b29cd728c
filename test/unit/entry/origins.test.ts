import assert from 'node:assert/strict';
import { allowedOrigins } from '../../../functions/src/config.ts';
import { isAllowedOrigin } from '../../../functions/src/mcp/http/refusal.ts';

describe('the pages that may call', () => {
  const { GCLOUD_PROJECT: before } = process.env;
  beforeEach(() => {
    process.env['GCLOUD_PROJECT'] = 'ours-1';
  });
  afterEach(() => {
    if (before === undefined) delete process.env['GCLOUD_PROJECT'];
    else process.env['GCLOUD_PROJECT'] = before;
  });

  it('are those of the project’s own sites on Firebase Hosting, and of no other’s', () => {
    const may = (origin: string): boolean => isAllowedOrigin(origin, 'mcp-1.run.app', allowedOrigins());
    for (const origin of ['https://ours-1.web.app', 'https://ours-1.firebaseapp.com'])
      assert.equal(may(origin), true, origin);
    for (const origin of [
      'http://ours-1.web.app',
      'https://ours-1--preview-x.web.app',
      'https://ours-1.web.app.evil.example',
      'https://ours-2.web.app',
      'https://web.app',
      'null',
    ])
      assert.equal(may(origin), false, origin);
  });
});
