import assert from 'node:assert/strict';
import { allowedOrigins, consoleOrigin } from '../../../functions/src/config.ts';
import { isAllowedOrigin } from '../../../functions/src/mcp/http/route.ts';
import { setVariable } from '../../support/environment.ts';

describe('web origins that may call the endpoint', () => {
  const { GCLOUD_PROJECT: before } = process.env;
  beforeEach(() => {
    process.env['GCLOUD_PROJECT'] = 'ours-1';
  });
  afterEach(() => setVariable('GCLOUD_PROJECT', before));

  it('are exactly the Firebase Hosting sites of the project', () => {
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

describe('address of the console in emails', () => {
  const { CONSOLE_URL, GCLOUD_PROJECT } = process.env;
  const linked = (address: string): string => {
    process.env['CONSOLE_URL'] = address;
    return consoleOrigin();
  };
  beforeEach(() => {
    process.env['GCLOUD_PROJECT'] = 'ours-1';
  });
  afterEach(() => {
    setVariable('CONSOLE_URL', CONSOLE_URL);
    setVariable('GCLOUD_PROJECT', GCLOUD_PROJECT);
  });

  it('is the origin of the parameter CONSOLE_URL', () => {
    assert.equal(linked('https://console.example/any/page?x=1'), 'https://console.example');
    assert.equal(linked('HTTP://127.0.0.1:5000'), 'http://127.0.0.1:5000');
  });

  it("is the project's own site if CONSOLE_URL is empty or is not a web address", () => {
    for (const address of ['', 'console.example', 'javascript:alert(1)', 'mailto:a@b.example', 'https://'])
      assert.equal(linked(address), 'https://ours-1.web.app', address);
  });
});
