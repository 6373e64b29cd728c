import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CredentialRefused, HubConnection } from '../src/hub/connection.ts';
import { Hub } from '../src/hub/hub.ts';
import { git, newFolder, newRepository, removeFolder } from './support/folders.ts';
import { LocalHub, startRunner, taskOf } from './support/localHub.ts';
import { FOREVER, installStandIn } from './support/standIn.ts';
import { until } from './support/waiting.ts';

const HOW =
  /^The hub refuses this runner's credential: .* Create another credential with "npm run agents -- create --name <name> --owner <email>" or onboarding\.registerAgent/;

describe('the error for a refused credential', () => {
  let server: Server;
  let status: number;
  let body: string;

  beforeEach(async () => {
    server = createServer((_request, response) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(body),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));

  async function refusal(): Promise<string> {
    const { port } = server.address() as AddressInfo;
    const hub = new Hub(new HubConnection(`http://127.0.0.1:${port}/mcp`, 'mk_a.b'));
    const error: unknown = await hub.register([], { serves: 'owner', commands: false }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof CredentialRefused, String(error));
    assert.match(error.message, HOW);
    assert.doesNotMatch(error.message, /\n/);
    return error.message;
  }

  it("is one line that contains the hub's reason", async () => {
    for (const [code, message] of [
      [401, 'The credential has expired.'],
      [403, 'Your credential does not include the toolset coding. It includes: todo.'],
    ] as const) {
      status = code;
      body = JSON.stringify({ jsonrpc: '2.0', error: { code: -32102, message }, id: null });
      assert.ok((await refusal()).includes(`credential: ${message} `));
    }
  });

  it("contains no invisible or reordering characters of the hub's reason", async () => {
    status = 401;
    const hidden = ['\u202e', '\u2066', '\u200b', '\u200d', '\ufeff', '\u{e0041}', '\u009b', '\u001b'];
    const message = `The credential${hidden.join('a')} has expired.`;
    body = JSON.stringify({ jsonrpc: '2.0', error: { code: -32102, message }, id: null });
    const shown = await refusal();
    assert.match(shown, /credential: The credential a a.* has expired\. /);
    for (const character of hidden) assert.ok(!shown.includes(character), JSON.stringify(character));
  });

  it('contains the HTTP status if a proxy refuses the request', async () => {
    status = 403;
    body = '<html>Forbidden</html>';
    assert.match(await refusal(), /credential: HTTP 403\. /);
  });
});

describe('a runner whose credential is revoked', () => {
  let folder: string;
  let repo: string;
  const output: string[] = [];

  beforeEach(() => {
    folder = newFolder();
    repo = newRepository(`${folder}/repo`);
    output.length = 0;
  });
  afterEach(() => removeFolder(folder));

  it('ends its attempts, and keeps their reports for the next runner, which sends them', async () => {
    installStandIn(`${folder}/bin`, `fs.writeFileSync('half.txt', 'half'); said('At work.'); ${FOREVER}`);
    const tasks = ['one', 'two'].map(taskOf);
    const hub = new LocalHub(...tasks);
    const never = new AbortController().signal;
    const running = startRunner({ folder, repo, hub, args: ['--concurrency', '3'], shutdown: never, output });
    running.catch(() => undefined);
    await until(() => hub.lines.filter((line) => line === 'At work.').length === 2);
    hub.revoked = true;
    await assert.rejects(running, CredentialRefused);
    assert.equal(output.filter((message) => /credential|refuses/.test(message)).length, 0, 'only main reports it');
    for (const name of ['one', 'two']) assert.equal(git(repo, 'show', `work/${name}:half.txt`), 'half');
    assert.deepEqual(readdirSync(`${folder}/worktrees`), []);
    assert.deepEqual(hub.endings, []);

    installStandIn(`${folder}/bin`, 'result();');
    for (const name of ['one', 'two']) leaveBehind(`${repo}/.git/muster/attempts/${name}.1/owner.json`);
    const next = new LocalHub();
    const shutdown = new AbortController();
    const second = startRunner({ folder, repo, hub: next, shutdown: shutdown.signal, output });
    await until(() => next.endings.length === 2);
    shutdown.abort();
    await second;
    const classes = next.endings.map(({ failure }) => failure?.class);
    assert.deepEqual(classes, ['runner_lost', 'runner_lost']);
    await until(() => !existsSync(`${repo}/.git/muster/attempts/one.1`));
  });
});

/** Changes the record of an attempt, so that the process of its runner seems to have ended. */
function leaveBehind(record: string): void {
  const facts: object = JSON.parse(readFileSync(record, 'utf8'));
  writeFileSync(record, JSON.stringify({ ...facts, startedAt: 'long ago' }));
}
