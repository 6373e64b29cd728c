/** Lets operators manage people and their roles without the endpoint. */
import { reach, runCommand } from '../operator/deployment.ts';
import { peopleUsage } from '../operator/usages.mjs';
import { parseCommand } from './arguments.ts';

await runCommand(peopleUsage, async () => {
  const command = parseCommand(process.argv.slice(2));
  reach({ ...command.options, databaseUrl: command.options['database-url'] });
  // Import this only now, because database clients read their addresses from the environment when they load.
  const { follow } = await import('./commands.ts');
  console.log(await follow(command));
});
