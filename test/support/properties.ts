/**
 * Property tests use a fixed seed, so that a failure is caused by a change, not by chance. `MUSTER_SEED=$RANDOM npm
 * test` uses another seed, which a failing test prints.
 */
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env['MUSTER_SEED'] || 20260728) });
