/** The releases before the last: by day on the course that leads through everything. */
import { keptReleases } from '../../../scripts/setup/releases.mjs';
import { byDay } from '../../support/night.ts';
import { ALL_COURSES } from './story.ts';
import { tryUpgradeFrom } from './upgrade.ts';

const COURSES = byDay(ALL_COURSES.slice(0, 1), { night: [...ALL_COURSES] });

for (const release of keptReleases().slice(0, -1)) tryUpgradeFrom(release, COURSES);
