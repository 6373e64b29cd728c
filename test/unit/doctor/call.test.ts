/** Tests the call of the endpoint that ends a deployment, and runs of the Firebase CLI as a child process. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Addresses } from '../../../functions/src/access/rules/addresses.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';
import { callEndpoint } from '../../../scripts/deploy/call.ts';
import { firebaseCli } from '../../../scripts/deploy/firebase.ts';
import { Stop } from '../../../scripts/deploy/step.ts';
import { diagnose } from '../../../scripts/doctor/diagnose.ts';
import { DEPLOYING } from '../../../scripts/doctor/needs.ts';
import { Google } from '../../../scripts/google/client.ts';
import { PROJECT, recordingOf } from '../../support/google/answers.ts';
import { LocalGoogle, TOKEN } from '../../support/google/server.ts';
import { write } from '../../support/google/writes.ts';
import { close, listen } from '../../support/listening.ts';
import { memoryPorts, type RunningEndpoint, serveEndpoint } from '../../support/mcp-endpoint.ts';
import { namesOf } from './diagnosed.ts';

const noPause = async (): Promise<void> => undefined;

describe('call of the endpoint after a deployment', () => {
  let endpoint: RunningEndpoint;
  before(async () => {
    endpoint = await serveEndpoint({ ...memoryPorts(), toolsets });
  });
  after(() => endpoint.close());

  it('calls the endpoint without a credential and then as an agent', async () => {
    const url = `${endpoint.url}/mcp`;
    assert.equal(await callEndpoint(url, undefined, noPause), 'the endpoint requires a credential but has no sign-in');
    assert.match(await callEndpoint(url, 'leader-key', noPause), /^the endpoint is muster 0\.0\.0$/i);
    await assert.rejects(callEndpoint(url, 'another-key', noPause), /the endpoint responded with 401: /);
  });

  it('reports whether people can sign in', async () => {
    const publicUrl = 'http://localhost:7';
    const addresses = new Addresses({ publicUrl, functionUrl: undefined });
    const open = await serveEndpoint({ ...memoryPorts(), toolsets, addresses });
    try {
      assert.match(await callEndpoint(`${open.url}/mcp`, undefined, noPause), /and links to the sign-in$/);
    } finally {
      await open.close();
    }
  });

  it('waits until anyone may invoke the function, and rejects error pages of Cloud Run', async () => {
    let refusals = 3;
    const front: Server = createServer((_request, response) => {
      const refused = refusals-- > 0;
      response.writeHead(refused ? 403 : 401, refused ? {} : { 'www-authenticate': 'Bearer' });
      response.end(refused ? '<html>Forbidden</html>' : JSON.stringify({ error: { message: 'who?' } }));
    });
    const url = `${await listen(front)}/mcp`;
    let pauses = 0;
    await callEndpoint(url, undefined, async () => void pauses++);
    assert.equal(pauses, 3);
    refusals = 1000;
    const error = await callEndpoint(url, undefined, noPause).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof Stop);
    assert.match(error.message, /the endpoint responded with 403: <html>Forbidden/);
    assert.deepEqual(error.fix, { command: `curl -i ${url}` });
    await close(front);
  });
});

describe('Firebase CLI as a child process', () => {
  const folder = mkdtempSync(join(tmpdir(), 'muster-cli-'));
  after(() => rmSync(folder, { recursive: true }));

  it('runs without prompts and with the token of the deployer, which no process list shows', async () => {
    const program = join(folder, 'firebase.mjs');
    const seen = join(folder, 'seen.json');
    writeFileSync(
      program,
      `import { writeFileSync } from 'node:fs';
const { FIREBASE_TOKEN, FUNCTIONS_DISCOVERY_TIMEOUT } = process.env;
writeFileSync(${JSON.stringify(seen)}, JSON.stringify({ args: process.argv.slice(2), FIREBASE_TOKEN, FUNCTIONS_DISCOVERY_TIMEOUT }));
console.log('one'); console.error('two'); process.exit(process.argv.includes('hosting') ? 1 : 0);`,
    );
    const firebase = firebaseCli({ project: PROJECT, token: async () => 'ya29.token', origin: undefined }, program);
    assert.deepEqual((await firebase(['deploy', '--only', 'functions'])).succeeded, true);
    assert.deepEqual(JSON.parse(readFileSync(seen, 'utf8')), {
      args: ['deploy', '--only', 'functions', '--non-interactive', '--project', 'muster-team'],
      FIREBASE_TOKEN: 'ya29.token',
      FUNCTIONS_DISCOVERY_TIMEOUT: '60',
    });
    const { succeeded, output } = await firebase(['deploy', '--only', 'hosting']);
    assert.equal(succeeded, false);
    assert.match(output, /one/);
    assert.match(output, /two/);
  });

  it('deploys the rules and indexes, which the doctor then recognizes', async () => {
    const recording = await recordingOf('half');
    const { declared, answers } = recording;
    const released = [...answers].find(([path]) => path.endsWith('/rulesets/5e1f'));
    assert.ok(released);
    answers.set(released[0], { source: { files: [{ content: 'rules of an earlier version' }] } });
    const place = `projects/${PROJECT}`;
    answers.set(`cloudresourcemanager.googleapis.com/v1/${place}:testIamPermissions`, {
      permissions: [...DEPLOYING, ...['create', 'delete', 'list', 'update'].map((one) => `datastore.indexes.${one}`)],
    });
    answers.set(`serviceusage.googleapis.com/v1/${place}/services/127.0.0.1`, { state: 'ENABLED' });
    answers.set(`firestore.googleapis.com/v1/${place}/databases/(default)`, { name: `${place}/databases/(default)` });
    answers.set(`firebaserules.googleapis.com/v1/${place}:test`, {});
    const local = new LocalGoogle(answers, write);
    await local.start();
    try {
      const google = new Google({ project: PROJECT, token: async () => TOKEN, origin: local.url });
      const { succeeded, output } = await firebaseCli(google)(['deploy', '--only', 'firestore']);
      assert.ok(succeeded, output);
      const { findings } = await diagnose(google, declared);
      const problems = namesOf(findings, 'problem');
      for (const name of ['indexes', 'index exemptions', 'expiry', 'rules of Firestore'])
        assert.ok(!problems.includes(name), name);
      assert.ok(answers.has(`firebaserules.googleapis.com/v1/${place}/releases/cloud.firestore/(default)`));
      assert.deepEqual(local.faults, []);
    } finally {
      await local.stop();
      rmSync(recording.folder, { recursive: true });
    }
  });
});
