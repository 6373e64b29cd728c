/** The MCP conformance suite's scenarios for authorization servers. A browser signs in as a person would. */
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { z } from 'zod';
import { freePort } from '../../../scripts/emulators/ports.mjs';
import { openBrowser } from '../../support/browser.ts';
import { allow, ORIGIN } from '../support/signInPage.ts';
import { startTerminal } from '../support/terminal.ts';

const PROGRAM = fileURLToPath(new URL('../../clients/node_modules/conformance-next/dist/index.js', import.meta.url));
const ADA = { email: 'person@example.com', password: 'only-for-the-emulators' };

describe("Muster's authorization server", () => {
  let browser: Browser;

  before(async () => {
    browser = await openBrowser();
  });
  after(() => browser?.close());

  it("passes the conformance suite's scenarios for metadata and the authorization code grant", async () => {
    const port = String(await freePort());
    const registered = await fetch(`${ORIGIN}/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_name: 'Conformance', redirect_uris: [`http://127.0.0.1:${port}/callback`] }),
    });
    const { client_id } = z.object({ client_id: z.string() }).parse(await registered.json());
    const args = ['authorization', '--url', ORIGIN, '--client-id', client_id, '--port', port];
    const run = await startTerminal(process.execPath, [PROGRAM, ...args], {
      cwd: fileURLToPath(new URL('.', import.meta.url)),
      env: process.env,
    });
    const [address] = await run.shows(/https?:\/\/[\w.:-]+\/authorize\?[\w%&=.+~-]+/);
    await allow(browser, address, ADA);
    assert.match(await run.ended(), /Total: 3 passed, 0 failed/);
  });
});
