/** Lists people, gives and takes roles, past the endpoint: for whoever has a shell. */
import { reach, runCommand } from '../operator/deployment.ts';
import { parseCommand, USAGE } from './arguments.ts';

await runCommand(USAGE, async () => {
  const command = parseCommand(process.argv.slice(2));
  reach({ ...command.options, databaseUrl: command.options['database-url'] });
  // Only now: the clients read where to go from the environment as they load.
  const { follow } = await import('./commands.ts');
  console.log(await follow(command));
});
