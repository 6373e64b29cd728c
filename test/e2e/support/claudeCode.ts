/** The real Claude Code CLI, with a new home folder. It can connect only to the scripted model and the endpoint. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { close, listen } from '../../support/listening.ts';
import { startTerminal, type Terminal } from './terminal.ts';

const PROGRAM = new URL('../../clients/node_modules/.bin/claude', import.meta.url).pathname;
const PATIENCE_MS = 120_000;

export interface ClaudeCode {
  /** Runs `claude` with the arguments, and returns the output. */
  run(...args: readonly string[]): Promise<string>;
  /** Runs `claude` with the arguments in a terminal, for interactive commands. */
  start(...args: readonly string[]): Promise<Terminal>;
  /** Hosts outside this machine to which Claude Code has tried to connect. */
  readonly outside: readonly string[];
  close(): Promise<void>;
}

export async function installedClaudeCode(modelUrl: string): Promise<ClaudeCode> {
  if (!existsSync(PROGRAM)) throw new Error('Claude Code is not installed: "npm test -- e2e" installs it.');
  const home = mkdtempSync(`${tmpdir()}/muster-claude-`);
  const outside: string[] = [];
  const proxy = createServer((request, response) => {
    outside.push(request.url ?? '');
    response.writeHead(502).end();
  });
  proxy.on('connect', (request, socket) => {
    outside.push(request.url ?? '');
    socket.on('error', () => undefined);
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  });
  const env = environment(home, modelUrl, await listen(proxy));
  return {
    outside,
    run: (...args) => run(args, home, env),
    start: (...args) => startTerminal(PROGRAM, args, { cwd: home, env }),
    close: async () => {
      rmSync(home, { recursive: true, force: true });
      await close(proxy);
    },
  };
}

function environment(home: string, modelUrl: string, proxy: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    HOME: home,
    CLAUDE_CONFIG_DIR: `${home}/.claude`,
    ANTHROPIC_BASE_URL: modelUrl,
    ANTHROPIC_API_KEY: 'sk-ant-no-key-of-anyone',
    // Makes Claude Code wait for MCP servers. By default, it omits servers that have not connected after 5 seconds.
    MCP_CONNECTION_NONBLOCKING: '0',
    MCP_CONNECT_TIMEOUT_MS: '60000',
    MCP_TIMEOUT: '60000',
    ENABLE_TOOL_SEARCH: 'false', // Otherwise, requests to the model omit the tools of MCP servers.
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    NO_PROXY: '127.0.0.1,localhost',
    // Prevents Claude Code from opening a browser, because the test opens the pages itself.
    BROWSER: '/bin/true',
  };
}

async function run(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn(PROGRAM, args, {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: PATIENCE_MS,
    killSignal: 'SIGKILL',
  });
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  const [printed, complaints, code] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  if (code !== 0) throw new Error(`claude ${args[0]} exited with ${code}:\n${printed}\n${complaints}`);
  return printed;
}
