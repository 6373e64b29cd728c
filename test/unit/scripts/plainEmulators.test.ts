/** The Firebase CLI alone: it starts the emulators by what is committed, and finds those of `npm start`. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename } from 'node:path';
import { databaseNamespace, projectId, root } from '../../../scripts/project.mjs';
import { tellFirebaseCli } from '../../../scripts/start/hub.mjs';

const tools = createRequire(import.meta.url);
const { Config } = tools('firebase-tools/lib/config');
const { loadRC } = tools('firebase-tools/lib/rc');
const { getRulesConfig } = tools('firebase-tools/lib/database/rulesConfig');
const { EmulatorHub } = tools('firebase-tools/lib/emulator/hub');
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

describe('the emulators of npm start', () => {
  const folder = mkdtempSync(`${tmpdir()}/muster-hub-`);
  const name = basename(EmulatorHub.getLocatorFilePath(projectId));
  after(() => rmSync(folder, { recursive: true }));

  /** Tells of a run, and says what goes with it. */
  function told(run: string): readonly string[] {
    const removed: string[] = [];
    mkdirSync(`${folder}/${run}`);
    writeFileSync(`${folder}/${run}/${name}`, run);
    tellFirebaseCli(
      { temporary: `${folder}/${run}`, removeAtEnd: (path: string) => void removed.push(path) },
      folder,
    );
    return removed;
  }

  it('are found by the Firebase CLI, as the ones that were there first', () => {
    assert.deepEqual(told('first'), [`${folder}/${name}`]);
    assert.deepEqual(told('second'), []);
    assert.equal(readFileSync(`${folder}/${name}`, 'utf8'), 'first');
  });
});
