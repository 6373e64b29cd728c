/** Output of `npm start`, and the environment that it creates for the emulators. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clientsEnv, emulatorsEnv } from '../../../scripts/emulators/environment.mjs';
import { freePorts } from '../../../scripts/emulators/ports.mjs';
import { missingChromium } from '../../../scripts/setup/prerequisites.mjs';
import { connectionHelp, writeEndpoint } from '../../../scripts/start/endpoint.mjs';
import { setVariable } from '../../support/environment.ts';

const ADA = { name: 'Ada Person', email: 'person@example.com', password: 'only-for-the-emulators' };
const directory = mkdtempSync(join(tmpdir(), 'start-'));
after(() => rmSync(directory, { recursive: true }));

const removed: string[] = [];
const run = {
  tag: 'unit',
  directory,
  temporary: directory,
  suffix: `-unit-${process.pid}`,
  env: {},
  removeAtEnd: (path: string) => void removed.push(path),
  isEnding: () => false,
  end: async () => undefined,
};

async function options(clientDocumentsUrl?: string) {
  const output = { line: () => undefined, file: '', tail: () => '' };
  const documents = clientDocumentsUrl === undefined ? {} : { clientDocumentsUrl };
  return { run, node: '/opt/node', ports: await freePorts(), output, say: () => undefined, ...documents };
}

describe('output of npm start', () => {
  it('starts with the console and the sign-in, and then shows an API key for machines', () => {
    const endpoint = {
      mcpUrl: 'http://127.0.0.1:5001/p/r/mcp',
      origin: 'http://127.0.0.1:5005',
      projectId: 'p',
      consoleUrl: 'http://127.0.0.1:5000',
      tokens: { worker1: 'mk_a.b' },
      people: [ADA],
      emulators: {},
      clockFile: '',
    };
    const add = '  claude mcp add --transport http muster http://127.0.0.1:5005/mcp';
    assert.deepEqual(connectionHelp(endpoint), [
      'Muster is ready. Next steps:',
      '',
      '1. Open http://127.0.0.1:5000 and sign in as Ada Person.',
      '',
      '2. Connect Claude Code:',
      add,
      '  In Claude Code, type /mcp, choose muster, then Authenticate, and on the page, click',
      '  "Continue as Ada Person" (person@example.com, password only-for-the-emulators)',
      '  Or start Claude Code in this folder, where .mcp.json connects it as the leader.',
      '',
      '3. Enter: "Claim a task, do it and complete it." The console shows the progress.',
      '',
      'For machines, with the API key of worker1:',
      `${add} --header "Authorization: Bearer mk_a.b"`,
    ]);
  });
});

describe('file .dev/endpoint.json', () => {
  it('contains the origin and the sample people, and is deleted at the end of the run', async () => {
    const suite = { ...(await options()), env: {}, ui: false, exited: new Promise<string>(() => undefined) };
    const env = clientsEnv(suite, { functions: true, pubsub: false });
    const written = writeEndpoint(run, { ...suite, env }, { tokens: { worker1: 'mk_a.b' }, people: [ADA] });
    const [file = ''] = removed;
    const read = JSON.parse(readFileSync(file, 'utf8'));
    const mode = statSync(file).mode;
    rmSync(file);
    assert.deepEqual(read, written);
    assert.equal(mode & 0o777, 0o600);
    const { mcpUrl, origin, tokens, people } = read;
    assert.deepEqual(
      { mcpUrl, origin, tokens, people },
      {
        mcpUrl: `http://127.0.0.1:${suite.ports.functions}/demo-muster/us-central1/mcp`,
        origin: `http://127.0.0.1:${suite.ports.origin}`,
        tokens: { worker1: 'mk_a.b' },
        people: [ADA],
      },
    );
    assert.ok(!existsSync(`${file}.new`));
  });
});

describe('environment of the emulators', () => {
  it('gives the same addresses to the functions and to their clients', async () => {
    const chosen = await options();
    const { MUSTER_MCP_URL, MUSTER_ORIGIN } = clientsEnv(chosen, { functions: true, pubsub: false });
    assert.equal(emulatorsEnv(chosen)['MUSTER_MCP_URL'], MUSTER_MCP_URL);
    assert.equal(MUSTER_ORIGIN, `http://127.0.0.1:${chosen.ports.origin}`);
    assert.notEqual(chosen.ports.origin, chosen.ports.functions);
    assert.ok(!('MUSTER_ORIGIN' in clientsEnv(chosen, { functions: false, pubsub: false })));
  });

  it('contains the address of the OAuth client documents if that address is set', async () => {
    const chosen = await options('http://127.0.0.1:7');
    assert.equal(emulatorsEnv(chosen)['MUSTER_CLIENT_DOCUMENTS_URL'], 'http://127.0.0.1:7');
    const env = clientsEnv(chosen, { functions: true, pubsub: false });
    assert.equal(env['MUSTER_CLIENT_DOCUMENTS_URL'], 'http://127.0.0.1:7');
    const without = emulatorsEnv(await options())['MUSTER_CLIENT_DOCUMENTS_URL'];
    assert.equal(without, process.env['MUSTER_CLIENT_DOCUMENTS_URL']);
  });
});

describe('environment of the emulators of npm start', () => {
  it('starts Java and Node with small heaps, unless the developer sets other options', async () => {
    const { JAVA_TOOL_OPTIONS: theirs } = process.env;
    process.env['JAVA_TOOL_OPTIONS'] = '-Xms64m';
    const plain = emulatorsEnv(await options());
    const env = emulatorsEnv({ ...(await options()), saveMemory: true });
    setVariable('JAVA_TOOL_OPTIONS', theirs);
    assert.equal(plain['JAVA_TOOL_OPTIONS'], '-Xms64m');
    const java = spawnSync('java', ['-XX:+PrintFlagsFinal', '-version'], { env, encoding: 'utf8' });
    assert.equal(java.status, 0, java.stderr);
    assert.match(java.stdout, /InitialHeapSize += 67108864 [\s\S]* UseSerialGC += true /);
    const node = spawnSync(process.execPath, ['--version'], { env, encoding: 'utf8' });
    assert.equal(node.status, 0, node.stderr);
    assert.match(String(env['NODE_OPTIONS']), /^--max-semi-space-size=1 /);
    assert.doesNotMatch(String(plain['NODE_OPTIONS']), /semi-space/);
  });
});

describe('Chromium for page tests', () => {
  const { PATH, MUSTER_CHROMIUM } = process.env;
  beforeEach(() => {
    process.env['PATH'] = directory;
    delete process.env['MUSTER_CHROMIUM'];
  });
  afterEach(() => {
    setVariable('PATH', PATH);
    setVariable('MUSTER_CHROMIUM', MUSTER_CHROMIUM);
  });

  it('is reported as missing in one line if it is not installed', () =>
    assert.equal(
      missingChromium(),
      'Chromium is required for the tests of pages but not installed: ' +
        "install Debian's package chromium, or set MUSTER_CHROMIUM",
    ));

  it('is found by any of its common names, or by the variable MUSTER_CHROMIUM', () => {
    for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
      const program = join(directory, name);
      writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
      assert.equal(missingChromium(), undefined);
      rmSync(program);
    }
    process.env['MUSTER_CHROMIUM'] = process.execPath;
    assert.equal(missingChromium(), undefined);
    process.env['MUSTER_CHROMIUM'] = '/nowhere/chromium';
    assert.match(String(missingChromium()), /^MUSTER_CHROMIUM is not a working browser: \/nowhere/);
  });
});
