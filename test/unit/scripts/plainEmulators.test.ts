/** `npx firebase emulators:start` reads what is committed, without the configuration that `npm start` writes. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { databaseNamespace, projectId, root } from '../../../scripts/project.mjs';

const tools = createRequire(import.meta.url);
const { Config } = tools('firebase-tools/lib/config');
const { loadRC } = tools('firebase-tools/lib/rc');
const { getRulesConfig } = tools('firebase-tools/lib/database/rulesConfig');
const { constructDefaultAdminSdkConfig } = tools('firebase-tools/lib/emulator/adminSdkConfig');

describe('the committed configuration of the emulators', () => {
  const options = { cwd: root, project: projectId };
  const config = Config.load(options);
  const rc = loadRC(options);

  it('names the project that everything here is made for', () => {
    assert.equal(rc.resolveAlias('default'), projectId);
  });

  it('puts the rules into the Realtime Database that the functions use', () => {
    const rules = getRulesConfig(projectId, { ...options, config, rc });
    assert.deepEqual(rules, [{ instance: databaseNamespace, rules: 'database.rules.json' }]);
    const { databaseURL } = constructDefaultAdminSdkConfig(projectId);
    assert.equal(databaseURL, `https://${databaseNamespace}.firebaseio.com`);
  });

  it('has a port for each emulator that Muster needs', () => {
    const { emulators } = config.src;
    for (const name of ['functions', 'firestore', 'auth', 'database', 'pubsub', 'tasks', 'hosting'])
      assert.equal(typeof emulators[name]?.port, 'number', name);
  });
});
