/** Makes again what follows from something else. What is right already stays as it is, so it may be run again. */
import { reach, runCommand } from '../operator/deployment.ts';
import { parseCommand, USAGE } from './arguments.ts';

await runCommand(USAGE, async () => {
  const { kinds, options } = parseCommand(process.argv.slice(2));
  reach({ ...options, databaseUrl: options['database-url'] });
  // Only now: the clients read where to go from the environment as they load.
  const { rebuild } = await import('./rebuild.ts');
  await rebuild(kinds, { isDry: options['dry-run'], say: (sentence) => console.log(sentence) });
});
