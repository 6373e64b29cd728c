import assert from 'node:assert/strict';
import { parseSettings, UsageError } from '../src/arguments.ts';

const ENOUGH = ['--repo', '.', '--url', 'http://127.0.0.1:5001/mcp', '--token', 'mk_key.secret'];

function complaint(args: readonly string[], env: NodeJS.ProcessEnv = {}): string {
  try {
    parseSettings(args, env);
  } catch (error) {
    assert.ok(error instanceof UsageError);
    return error.message;
  }
  return '';
}

describe('parseSettings', () => {
  it('sets defaults for omitted options', () =>
    assert.deepEqual(parseSettings(ENOUGH, {}), {
      repo: '.',
      url: 'http://127.0.0.1:5001/mcp',
      token: 'mk_key.secret',
      once: false,
      concurrency: 1,
      commands: false,
      push: false,
      agent: [],
      unsafe: false,
      silence: 600,
      for: 'owner',
      lease: 120,
    }));

  it('reads URL and credential from MUSTER_URL and MUSTER_TOKEN if options are missing', () => {
    const env = { MUSTER_URL: 'https://example.com/mcp', MUSTER_TOKEN: 'from.environment' };
    const settings = parseSettings(['--repo', '.'], env);
    assert.deepEqual([settings?.url, settings?.token], [env.MUSTER_URL, env.MUSTER_TOKEN]);
    assert.equal(parseSettings(['--repo', '.', '--token', 'given.here'], env)?.token, 'given.here');
  });

  it('sets the option --once if --task is set', () =>
    assert.equal(parseSettings([...ENOUGH, '--task', 'task-1'], {})?.once, true));

  it('reads agents from --agent NAME=COMMAND', () => {
    const agents = parseSettings([...ENOUGH, '--agent', 'goose=goose acp', '--agent', 'My_Agent=/bin/x'], {})?.agent;
    const read = agents?.map(({ tool, program, command }) => [tool, program, command]);
    assert.deepEqual(read, [
      ['GOOSE', 'goose', ['goose', 'acp']],
      ['MY_AGENT', 'my_agent', ['/bin/x']],
    ]);
    for (const wrong of ['goose', '=goose', 'g=', 'a b=c', 'x=x'])
      assert.match(complaint([...ENOUGH, '--agent', wrong]), /--agent must have the form NAME=COMMAND/);
  });

  it('reports each missing, invalid or unknown option', () => {
    assert.match(complaint([]), /--repo is missing.*--url.*--token is missing/s);
    assert.match(complaint([...ENOUGH, '--concurrency', '0']), /--concurrency must be at least 1/);
    assert.match(complaint([...ENOUGH, '--silence', 'long']), /--silence must be a number/);
    assert.match(complaint([...ENOUGH, '--url', 'ftp://example.com']), /--url must be the http/);
    assert.match(complaint([...ENOUGH, '--base=-x']), /--base/);
    assert.match(complaint([...ENOUGH, '--frobnicate']), /frobnicate/);
    assert.match(complaint([...ENOUGH, 'stray']), /stray/);
    assert.match(complaint([...ENOUGH, '--once', '--concurrency', '2']), /cannot be combined with/);
  });

  it('returns no settings for --help, even without required options', () =>
    assert.equal(parseSettings(['--help'], {}), undefined));
});
