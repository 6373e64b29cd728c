/** Rebuilds derived data. Correct data stays unchanged, so the command can be run repeatedly. */
import { reach, runCommand } from '../operator/deployment.ts';
import { rebuildUsage } from '../operator/usages.mjs';
import { parseCommand } from './arguments.ts';

await runCommand(rebuildUsage, async () => {
  const { kinds, options } = parseCommand(process.argv.slice(2));
  reach({ ...options, databaseUrl: options['database-url'] });
  // Import this only now, because database clients read their addresses from the environment when they load.
  const { rebuild } = await import('./rebuild.ts');
  await rebuild(kinds, { isDry: options['dry-run'], say: (sentence) => console.log(sentence) });
});
