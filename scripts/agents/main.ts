/** Registers and revokes agents past the endpoint: the way into a fresh project, and the way to shut one out. */
import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { devDirectory } from '../project.mjs';
import { type Command, type Options, parseCommand, USAGE, UsageError } from './arguments.ts';

const endpointFile = z.object({
  projectId: z.string(),
  mcpUrl: z.string(),
  emulators: z.object({ firestore: z.string() }),
});

// Google's client throws missing credentials where nobody can catch them.
process.once('unhandledRejection', end);

try {
  const command = parseCommand(process.argv.slice(2));
  const mcpUrl = reach(command.options);
  // Only now: the clients read where to go from the environment as they load.
  await follow(command, mcpUrl, await import('./registry.ts'));
  process.exit(0);
} catch (error) {
  end(error);
}

/** Points the clients at the project or the emulators. Gives the URL of the endpoint there. */
function reach({ emulator, project }: Options): string {
  if (emulator) return reachEmulators();
  const projectId = project ?? process.env['GOOGLE_CLOUD_PROJECT'];
  if (!projectId) throw new UsageError('Which project? Give --project <id>, or --emulator.');
  process.env['GCLOUD_PROJECT'] = projectId;
  process.env['GOOGLE_CLOUD_PROJECT'] = projectId;
  return `https://${process.env['REGION'] ?? 'us-central1'}-${projectId}.cloudfunctions.net/mcp`;
}

function reachEmulators(): string {
  const file = `${devDirectory}/endpoint.json`;
  if (!existsSync(file)) throw new UsageError('No emulators are running: start them with npm start.');
  const { projectId, mcpUrl, emulators } = endpointFile.parse(JSON.parse(readFileSync(file, 'utf8')));
  process.env['GCLOUD_PROJECT'] = projectId;
  process.env['GOOGLE_CLOUD_PROJECT'] = projectId;
  process.env['FIRESTORE_EMULATOR_HOST'] = emulators.firestore;
  // Google's client would look for a machine in Google's cloud to ask for credentials.
  process.env['METADATA_SERVER_DETECTION'] = 'none';
  return mcpUrl;
}

async function follow(
  command: Command,
  mcpUrl: string,
  registry: typeof import('./registry.ts'),
): Promise<void> {
  switch (command.kind) {
    case 'create': {
      const { agentId, bearer, expiresAt } = await registry.create(command.name, command.options);
      console.log(`Agent ${agentId} (${command.options.role}), until ${expiresAt.toISOString()}.`);
      console.log('Its credential, shown this once:');
      console.log(`  ${bearer}`);
      console.log('Connect Claude Code as this agent:');
      console.log(
        `  claude mcp add --transport http muster ${mcpUrl} --header "Authorization: Bearer ${bearer}"`,
      );
      break;
    }
    case 'revoke': {
      const count = await registry.revoke(command.agentId);
      if (count === 0) throw new Error(`Agent "${command.agentId}" has no credential.`);
      console.log(`Agent ${command.agentId} is shut out, everywhere within 5 seconds.`);
      break;
    }
  }
}

function end(error: unknown): void {
  console.error(explain(error));
  process.exit(1);
}

function explain(error: unknown): string {
  if (error instanceof UsageError) return `${error.message}\n\n${USAGE}`;
  const message = error instanceof Error ? error.message : String(error);
  return /default credentials|UNAUTHENTICATED/i.test(message)
    ? 'No Google credentials: run `gcloud auth application-default login` first.'
    : message;
}
