/** Manages people and their roles without the endpoint, for operators with a shell. */
import { reach, runCommand } from '../operator/deployment.ts';
import { parseCommand, USAGE } from './arguments.ts';

await runCommand(USAGE, async () => {
  const command = parseCommand(process.argv.slice(2));
  reach({ ...command.options, databaseUrl: command.options['database-url'] });
  // Imported only now, because the clients read their addresses from the environment while loading.
  const { follow } = await import('./commands.ts');
  console.log(await follow(command));
});
