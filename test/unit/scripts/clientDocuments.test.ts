/** Documents of OAuth clients that `npm start` serves locally, so that sign-in works without internet access. */
import assert from 'node:assert/strict';
import { clientDocumentsUrl } from '../../../functions/src/config.ts';
import { isRegistered } from '../../../functions/src/signin/rules/redirects.ts';
import { HttpsClientDocuments } from '../../../functions/src/vendors/clientdocument/clientDocuments.ts';
import { clientDocuments, startClientDocuments } from '../../../scripts/emulators/clientDocuments.mjs';
import { setVariable } from '../../support/environment.ts';

/** Redirect URI that each client uses, with an arbitrary port. */
const REDIRECTS: Readonly<Record<string, string>> = {
  'https://claude.ai/oauth/claude-code-client-metadata': 'http://localhost:54213/callback',
  'https://chatgpt.com/oauth/codex/client.json': 'http://127.0.0.1:1455/callback',
  'https://chatgpt.com/oauth/client.json': 'https://chatgpt.com/connector_platform_oauth_redirect',
  'https://vscode.dev/oauth/client-metadata.json': 'http://127.0.0.1:40123/',
};

describe('local copies of OAuth client documents', () => {
  const asked: string[] = [];
  let documents: HttpsClientDocuments;

  before(async () => {
    const offline = async (host: string) => {
      asked.push(host);
      throw new Error('ENOTFOUND');
    };
    documents = new HttpsClientDocuments(await startClientDocuments(), {
      resolve: offline,
      isPublic: () => true,
      options: {},
    });
  });

  for (const [id, redirect] of Object.entries(REDIRECTS))
    it(`replace ${id} without internet access, and contain ${redirect}`, async () => {
      const { text } = await documents.fetch(new URL(id));
      const document = clientDocuments.find(({ client_id }) => client_id === id);
      assert.ok(document);
      assert.deepEqual(JSON.parse(text), document);
      assert.ok(isRegistered(redirect, document.redirect_uris));
      assert.deepEqual(asked, []);
    });

  it('exist exactly for the clients in this test', () => {
    const ids = clientDocuments.map(({ client_id }) => client_id);
    assert.deepEqual(ids.sort(), Object.keys(REDIRECTS).sort());
  });

  for (const other of [
    'https://client.example/oauth/client.json',
    'https://claude.ai.client.example/oauth/claude-code-client-metadata',
    'https://claude.ai/oauth/claude-code-client-metadata?version=2',
    'https://claude.ai/oauth/CLAUDE-code-client-metadata',
  ])
    it(`do not replace other documents: ${other} is read from the internet`, async () => {
      asked.length = 0;
      await assert.rejects(documents.fetch(new URL(other)), /the host name does not resolve/);
      assert.deepEqual(asked, [new URL(other).host]);
    });

  it('are used only in the emulators', () => {
    const { FUNCTIONS_EMULATOR, MUSTER_CLIENT_DOCUMENTS_URL } = process.env;
    try {
      setVariable('MUSTER_CLIENT_DOCUMENTS_URL', 'http://127.0.0.1:7');
      setVariable('FUNCTIONS_EMULATOR', 'true');
      assert.equal(clientDocumentsUrl(), 'http://127.0.0.1:7');
      setVariable('FUNCTIONS_EMULATOR', undefined);
      assert.equal(clientDocumentsUrl(), undefined);
    } finally {
      setVariable('FUNCTIONS_EMULATOR', FUNCTIONS_EMULATOR);
      setVariable('MUSTER_CLIENT_DOCUMENTS_URL', MUSTER_CLIENT_DOCUMENTS_URL);
    }
  });
});
