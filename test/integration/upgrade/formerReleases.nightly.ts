/** The releases before the last, on every course. */
import { keptReleases } from '../../../scripts/setup/releases.mjs';
import { ALL_COURSES } from './story.ts';
import { tryUpgradeFrom } from './upgrade.ts';

for (const release of keptReleases().slice(0, -1)) tryUpgradeFrom(release, ALL_COURSES);
