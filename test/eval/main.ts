/** `npm run eval -- proof`. The emulators are already running. Standard output contains only the table. */
import { FULL, ruleRows, storedRows, tableOf } from './proof.ts';

const rows = [...(await ruleRows(FULL)), ...(await storedRows(FULL))];
process.stdout.write(`${tableOf(rows)}\n`);
process.exit(rows.every(({ isReached }) => isReached) ? 0 : 1);
