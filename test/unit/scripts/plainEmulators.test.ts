/** The plain Firebase CLI can use the committed configuration and can find a running `npm start`. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { databaseNamespace, projectId, root } from '../../../scripts/project.mjs';
import { tellFirebaseCli } from '../../../scripts/start/hub.mjs';
import { setVariable } from '../../support/environment.ts';

const tools = createRequire(import.meta.url);
const { Config } = tools('firebase-tools/lib/config');
const { loadRC } = tools('firebase-tools/lib/rc');
const { getRulesConfig } = tools('firebase-tools/lib/database/rulesConfig');
const { EmulatorHub } = tools('firebase-tools/lib/emulator/hub');
const { constructDefaultAdminSdkConfig } = tools('firebase-tools/lib/emulator/adminSdkConfig');

describe('committed emulator configuration', () => {
  const options = { cwd: root, project: projectId };
  const config = Config.load(options);
  const rc = loadRC(options);

  it('names the same project as the rest of the repository', () => assert.equal(rc.resolveAlias('default'), projectId));

  it('loads the security rules into the Realtime Database that the functions use', () => {
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

describe('emulators of npm start', () => {
  const standard = process.env['TMPDIR'];
  let folder = '';
  before(() => {
    folder = mkdtempSync(`${tmpdir()}/muster-hub-`);
    process.env['TMPDIR'] = folder;
  });
  after(() => {
    setVariable('TMPDIR', standard);
    rmSync(folder, { recursive: true });
  });

  /** Announces a run whose emulator hub has this port, and returns the paths to delete afterwards. */
  function reported(port: number): readonly string[] {
    const removed: string[] = [];
    const temporary = `${folder}/${port}`;
    mkdirSync(temporary);
    const locator = { version: EmulatorHub.CLI_VERSION, origins: [`http://127.0.0.1:${port}`] };
    writeFileSync(`${temporary}/hub-${projectId}.json`, JSON.stringify(locator));
    tellFirebaseCli({ temporary, removeAtEnd: (path: string) => void removed.push(path) });
    return removed;
  }

  it('are found by the Firebase CLI, unless an earlier run has already announced itself', () => {
    const found = () => EmulatorHub.readLocatorFile(projectId)?.origins;
    assert.equal(found(), undefined);
    assert.deepEqual(reported(4400), [EmulatorHub.getLocatorFilePath(projectId)]);
    assert.deepEqual(found(), ['http://127.0.0.1:4400']);
    assert.deepEqual(reported(4401), []);
    assert.deepEqual(found(), ['http://127.0.0.1:4400']);
  });
});
