/** Coding agents that do on purpose what the real ones cannot be made to do. */
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
if (process.argv.includes('--version')) { console.log('9.9.9 (stand-in)'); process.exit(0); }
print({ type: 'system', subtype: 'init', model: 'stand-in' });
`;

/**
 * Installs a program that speaks as Claude Code does.
 * @param bin a folder for the PATH
 * @param body JavaScript, with `print`, `said`, `result`, `fs` and `spawn`
 */
export function installStandIn(bin: string, body: string, program = 'claude'): void {
  mkdirSync(bin, { recursive: true });
  const file = `${bin}/${program}`;
  writeFileSync(file, `#!${process.execPath}\n${PRELUDE}\n${body}\n`);
  chmodSync(file, 0o755);
}

/** Never ends by itself. */
export const FOREVER = 'setInterval(() => undefined, 1000);';

/** Asked to end, it does not. */
export const DEAF =
  "for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => undefined);";

/** A child and a grandchild that are as deaf, and a child in a session of its own. Their ids go to a file. */
export function withChildren(pidFile: string): string {
  return `
const deaf = ${JSON.stringify(`${DEAF} ${FOREVER}`)};
const start = (code, detached) => spawn(process.execPath, ['-e', code], { detached, stdio: 'inherit' });
const grandchild = "const { spawn } = require('node:child_process'); const child = spawn(process.execPath, ['-e', " +
  JSON.stringify(deaf) + "]); require('node:fs').appendFileSync(" + JSON.stringify(${JSON.stringify(pidFile)}) +
  ", child.pid + '\\\\n'); " + deaf;
const pids = [process.pid, start(deaf, false).pid, start(deaf, true).pid, start(grandchild, false).pid];
fs.appendFileSync(${JSON.stringify(pidFile)}, pids.join('\\n') + '\\n');
`;
}
