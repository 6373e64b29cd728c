// @ts-check
/**
 * Fills the running emulators from emulator-data/, and prints the credentials and the people who can sign in:
 * `{"tokens": {...}, "people": [{"name": …, "email": …, "password": …}]}`.
 * `--story` adds the demo scenario. `--tokens` fills nothing and prints new credentials.
 */
import { importSeed, seedPeople, seedTokens } from '../emulator-data/import.ts';

if (!process.argv.includes('--tokens')) await importSeed();
if (process.argv.includes('--story')) {
  const { createSampleData } = await import('../emulator-data/sampleData.ts');
  await createSampleData({ workspace: 'default', ownerUid: 'person' });
}
console.log(JSON.stringify({ tokens: await seedTokens(), people: await seedPeople() }));
process.exit(0);
