// @ts-check
/**
 * npm run deploy -- --project <id> [--dry-run] [--secrets <file>]
 *
 * Deploys this clone without a question: what doctor finds right is left alone, and nothing is ever deleted.
 */
import { runOperatorProgram } from './setup/operatorProgram.mjs';

await runOperatorProgram('deploy/main.ts');
