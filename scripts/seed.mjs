// @ts-check
/**
 * Fills the running emulators from emulator-data/, and prints the credentials as `{"tokens": {...}}`.
 * With `--tokens` it fills nothing and only prints fresh ones.
 */
import { importSeed, seedTokens } from '../emulator-data/import.ts';

if (!process.argv.includes('--tokens')) await importSeed();
console.log(JSON.stringify({ tokens: await seedTokens() }));
process.exit(0);
