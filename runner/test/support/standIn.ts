/** Installs stand-ins for coding agents, whose behavior a test determines. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';

const PRELUDE = `
const print = (event) => process.stdout.write(JSON.stringify(event) + '\\n');
const said = (text) => print({ type: 'assistant', message: { content: [{ type: 'text', text }] } });
const result = (text = 'Done.') => print({
  type: 'result', subtype: 'success', is_error: false, result: text, num_turns: 2, total_cost_usd: 0.01,
  usage: { input_tokens: 20, output_tokens: 10, cache_read_input_tokens: 5 },
});
const fs = require('node:fs');
const { spawn } = require('node:child_process');
/**
 * Waits for the next message, notes its text, acknowledges it, and returns the text. Returns undefined at the end of
 * the input.
 */
const listen = (note = () => undefined) => {
  let line = '';
  for (const byte = Buffer.alloc(1); ; line += byte.toString('latin1')) {
    let length = 0;
    try { length = fs.readSync(0, byte, 0, 1, null); } catch (error) { if (error.code === 'EAGAIN') continue; throw error; }
    if (length === 0) return undefined;
    if (byte[0] === 10) break;
  }
  const { uuid, message } = JSON.parse(Buffer.from(line, 'latin1').toString('utf8'));
  note(message.content[0].text);
  print({ type: 'user', uuid, isReplay: true, message });
  return message.content[0].text;
};
print({ type: 'system', subtype: 'init', model: 'stand-in' });
`;

/**
 * Installs a program that prints output in the format of Claude Code.
 * @param bin folder that the test adds to the PATH
 * @param body JavaScript code that can use `print`, `said`, `result`, `listen`, `fs` and `spawn`
 */
export function installStandIn(bin: string, body: string, program = 'claude'): void {
  installProgram(bin, `${PRELUDE}\n${body}`, program);
}

/** Installs a program. @param source JavaScript code of the program */
export function installProgram(bin: string, source: string, program: string): void {
  mkdirSync(bin, { recursive: true });
  const file = `${bin}/${program}`;
  writeFileSync(`${file}.js`, `${source}\n`);
  // A shell script prints the version, because a start of Node would take longer than everything else.
  const version = `[ "$1" = --version ] && echo '9.9.9 (stand-in)' && exit`;
  writeFileSync(file, `#!/bin/sh\n${version}\nexec '${process.execPath}' '${file}.js' "$@"\n`);
  chmodSync(file, 0o755);
}

/** Code with which the agent never ends. */
export const FOREVER = 'setInterval(() => undefined, 1000);';

/** Code with which the agent ignores SIGTERM, SIGINT and SIGHUP. */
export const DEAF = "for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => undefined);";

/**
 * Returns code that starts three children: one has its own session, one starts a grandchild. All ignore SIGTERM.
 * @param pidFile file to which the code writes the ids of these four processes and of the code's process
 * @param then code that runs when all processes have started
 */
export function withChildren(pidFile: string, then: string): string {
  const deaf = `${DEAF} ${FOREVER}`;
  const parent = `
    const child = require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(deaf)}]);
    require('node:fs').appendFileSync(${JSON.stringify(pidFile)}, child.pid + '\\n');
    ${deaf}`;
  return `
const start = (code, detached) => spawn(process.execPath, ['-e', code], { detached, stdio: 'inherit' });
const pids = [process.pid, start(${JSON.stringify(deaf)}, false).pid, start(${JSON.stringify(deaf)}, true).pid, start(${JSON.stringify(parent)}, false).pid];
fs.appendFileSync(${JSON.stringify(pidFile)}, pids.join('\\n') + '\\n');
const starting = setInterval(() => {
  if (fs.readFileSync(${JSON.stringify(pidFile)}, 'utf8').trim().split('\\n').length < 5) return;
  clearInterval(starting);
  ${then}
}, 20);
`;
}
