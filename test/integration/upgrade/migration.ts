/** `npm run migrate`, as a shell runs it, and as a machine runs it that goes off in the middle. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { run } from '../operator/commands.ts';
import type { Stage } from './stage.ts';

const PROGRAM = fileURLToPath(new URL('../../../scripts/migrate.mjs', import.meta.url));

/** Ends it by SIGKILL as soon as it has told of so many parts. */
export async function migrateUntil(parts: number, { project, env }: Stage): Promise<void> {
  // A group of its own, so that whatever it starts ends with it.
  const child = spawn(process.execPath, [PROGRAM, '--project', project], {
    env: { ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  let told = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith(' ')) told += 1;
    if (told < parts) continue;
    process.kill(-Number(child.pid), 'SIGKILL');
    break;
  }
  await exited;
  assert.equal(told, parts, 'it was ended in the middle');
}

/** @returns what it told */
export function migrate({ project, env }: Stage): string {
  const { status, stdout, stderr } = run('migrate', ['--project', project], env);
  assert.equal(status, 0, stderr);
  return stdout;
}
