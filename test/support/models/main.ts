/**
 * Runs the local models in a separate process, and prints the parameters with which functions use these models. With
 * `--demo`, every answer states that it is canned.
 */
import { cannedResponse } from './canned.ts';
import { LocalModels } from './server.ts';

const models = new LocalModels(process.argv.includes('--demo') ? { usually: cannedResponse } : {});
await models.start();
const parameters = {
  ANTHROPIC_BASE_URL: models.url,
  ANTHROPIC_API_KEY: 'local-anthropic-key',
  GEMINI_BASE_URL: models.url,
  GEMINI_API_KEY: 'local-gemini-key',
};
process.stdout.write(`parameters: ${JSON.stringify(parameters)}\n`);
