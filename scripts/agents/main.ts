/** Lists, registers, renews and revokes agents past the endpoint: the way into a fresh project, and the way to shut one out. */
import { reach, runCommand } from '../operator/deployment.ts';
import { parseCommand, USAGE } from './arguments.ts';

await runCommand(USAGE, async () => {
  const command = parseCommand(process.argv.slice(2));
  const mcpUrl = reach(command.options);
  // Only now: the clients read where to go from the environment as they load.
  const { follow } = await import('./commands.ts');
  console.log(await follow(command, mcpUrl));
});
