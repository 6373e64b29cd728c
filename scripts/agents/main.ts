/** Lets operators manage agents without the endpoint, for example to create a project's first agent. */
import { reach, runCommand } from '../operator/deployment.ts';
import { agentsUsage } from '../operator/usages.mjs';
import { parseCommand } from './arguments.ts';

await runCommand(agentsUsage, async () => {
  const command = parseCommand(process.argv.slice(2));
  const mcpUrl = reach(command.options);
  // Import this only now, because database clients read their addresses from the environment when they load.
  const { follow } = await import('./commands.ts');
  console.log(await follow(command, mcpUrl));
});
