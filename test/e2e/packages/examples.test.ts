/** Runs the workers of examples/ as a person would: as programs, with their documented settings. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { registerAgent } from '../support/agents.ts';
import { succeed } from '../support/calls.ts';
import { connect } from '../support/clients.ts';
import { endpointUrl, newWorkspace } from '../support/endpoint.ts';

const EXAMPLES = new URL('../../../examples', import.meta.url).pathname;

const run = promisify(execFile);

describe('the example worker', () => {
  for (const [file, program, options] of [
    ['worker.ts', process.execPath, ['--disable-warning=ExperimentalWarning']],
    ['worker.py', 'python3', []],
  ] as const) {
    it(`${file} completes all tasks in the order of their dependencies`, async () => {
      const url = endpointUrl('', { workspace: newWorkspace('example') });
      const [leader, worker] = await Promise.all([registerAgent('lead', { role: 'leader' }), registerAgent('worker')]);
      const lead = await connect('client 2026-07-28', url, leader.token);
      try {
        await succeed(lead, 'coordination_create_tasks_batch', {
          tasks: [{ description: 'Write the parser' }, { description: 'Test it', dependencies: ['task-1'] }],
        });
        const env = {
          PATH: process.env['PATH'],
          HOME: process.env['HOME'],
          MUSTER_URL: url,
          MUSTER_TOKEN: worker.token,
        };
        const { stdout } = await run(program, [...options, `${EXAMPLES}/${file}`, worker.id], { env });
        assert.match(stdout, /^\S+: done\n\S+: done\n$/);
        const { progress_percent } = await succeed(lead, 'coordination_get_status');
        assert.equal(progress_percent, 100);
        assert.match(JSON.stringify(await succeed(lead, 'coordination_get_results')), /3 words.*2 words/);
      } finally {
        await lead.close();
      }
    });
  }
});
