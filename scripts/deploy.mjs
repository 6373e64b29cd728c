// @ts-check
/**
 * npm run deploy -- --project <id> [--dry-run] [--secrets <file>]
 *
 * Deploys this clone without prompts. Skips each step whose checks the doctor passes, and never deletes anything.
 */
import { deployUsage } from './operator/usages.mjs';
import { runOperatorProgram } from './setup/operatorProgram.mjs';

await runOperatorProgram('deploy/main.ts', deployUsage);
