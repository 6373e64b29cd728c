// @ts-check
/** `npm run build -w muster-hub`: bundles the package into three files. Then run `npm pack -w muster-hub`. */

import { root } from '../../scripts/project.mjs';
import { bundlePrograms } from '../../scripts/setup/bundle.mjs';

// The runner expects its watchdog at this path, relative to the runner's own file.
await bundlePrograms(
  [
    { in: `${root}/packages/muster/src/main.ts`, out: 'muster' },
    { in: `${root}/runner/src/main.ts`, out: 'runner' },
    { in: `${root}/runner/src/process/watchdog.js`, out: 'process/watchdog' },
  ],
  `${root}/packages/muster/dist`,
);
