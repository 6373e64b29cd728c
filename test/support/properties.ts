/**
 * Property tests are the same in each run, so that a red run means a change and not the dice.
 * `MUSTER_SEED=$RANDOM npm test` searches elsewhere; a failure prints the seed.
 */
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env['MUSTER_SEED'] || 20260728) });
