/** Sample data: the repository sartor-ai/claude-network, which the specification and the tools' examples use. */
import type { GitHubState, Repo } from './state.ts';

export const README = '# Claude Network\n\nA distributed AI agent system...';

const LOG = [
  '2025-11-03T10:30:00.0000000Z ##[group]Run npm test',
  '2025-11-03T10:30:01.0000000Z \u001b[36;1mnpm test\u001b[0m',
  '2025-11-03T10:30:02.0000000Z   1) retries end',
  '2025-11-03T10:30:03.0000000Z ##[error]Process completed with exit code 1.',
  '',
].join('\n');

export function seedClaudeNetwork(world: GitHubState): Repo {
  world.accounts.add('octocat');
  const repo = world.repository('sartor-ai', 'claude-network');
  repo.description = 'A distributed AI agent system';
  repo.stars = 42;
  repo.push('main', {
    'README.md': README,
    'src/agents.ts':
      'import { hub } from "./hub.ts";\n\nexport function registerAgent(name: string) {\n  return hub.add(name);\n}\n',
    'src/retry.ts': 'export const MAX_RETRIES = Infinity;\n',
    'docs/guide.md': '# Guide\n',
    'docs/images/logo.png': Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff]),
    'bin/run': { mode: '100755', content: '#!/bin/sh\n' },
    latest: { mode: '120000', content: 'README.md' },
    outside: { mode: '120000', content: '../elsewhere' },
    'vendor/library': { mode: '160000', content: 'a'.repeat(40) },
  });
  repo.push('fix/retries', { 'README.md': README, 'src/retry.ts': 'export const MAX_RETRIES = 3;\n' });
  repo.runs.push({
    id: 4000000001,
    workflow: { id: 17, file: 'ci.yml' },
    title: 'End retries',
    branch: 'fix/retries',
    conclusion: 'failure',
    jobs: [
      { id: 501, name: 'lint', conclusion: 'success', log: 'fine' },
      { id: 502, name: 'test', conclusion: 'failure', log: LOG },
    ],
  });
  world.install('sartor-ai', repo);
  return repo;
}
