// @ts-check
/** `npm run build -w muster-hub`: everything that the package needs, in three files. Then `npm pack -w muster-hub`. */

import { root } from '../../scripts/project.mjs';
import { bundlePrograms } from '../../scripts/setup/bundle.mjs';

// The runner finds its watchdog at this place beside itself.
await bundlePrograms(
  [
    { in: `${root}/packages/muster/src/main.ts`, out: 'muster' },
    { in: `${root}/runner/src/main.ts`, out: 'runner' },
    { in: `${root}/runner/src/process/watchdog.js`, out: 'process/watchdog' },
  ],
  `${root}/packages/muster/dist`,
);
