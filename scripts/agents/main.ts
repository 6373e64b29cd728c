/** Manages agents without the endpoint: to create the first agent of a project, or to revoke one. */
import { reach, runCommand } from '../operator/deployment.ts';
import { parseCommand, USAGE } from './arguments.ts';

await runCommand(USAGE, async () => {
  const command = parseCommand(process.argv.slice(2));
  const mcpUrl = reach(command.options);
  // Imported only now, because the clients read their addresses from the environment while loading.
  const { follow } = await import('./commands.ts');
  console.log(await follow(command, mcpUrl));
});
